"""Computers of a Dask cluster: each run is measured on one of them, which runs nothing else of ours meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scalegraph.base.errors import Fault, InputError
from scalegraph.link.targets.base import IS_MPI, WORKERS, Finding, Place, Target

if TYPE_CHECKING:
    from scalegraph.base.cancel import CancelToken
    from scalegraph.base.run import RunRecord
    from scalegraph.link.job import Job


class _Dask(Target):
    """Runs a program on the workers that ``--on`` names; they need the same ScaleGraph and architecture."""

    name = "dask"
    title = "Computers of a Dask cluster"
    help = "Each run goes to a worker of the cluster that --on names, and is measured there"
    measures = ("time", "regions", "waits", "messages", "counters", "trace")
    settings = (IS_MPI,)
    takes_mpi = True
    side_by_side = True  # `cluster.worker` measures one run at a time on each computer
    elsewhere = True
    on_workers = True
    order = 22

    def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:  # noqa: ARG002 - nothing is run here
        """Refuse *job*: only a link to workers can run it, and here there is none."""
        raise InputError(Fault(f"target 'dask' has no workers; expected {WORKERS}", key="target.name"))

    def check(self) -> Finding:
        """Return whether Dask is installed; workers are reached only with the first run."""
        from importlib.metadata import version

        from scalegraph.link.cluster.places import INSTALL, lacking

        if missing := lacking("tcp"):
            return Finding("remark", f"{' and '.join(missing)} not installed", INSTALL)
        return Finding("ok", f"distributed {version('distributed')}; name the workers with scalegraph run --on ADDRESS")

    def processors(self) -> int | None:
        """Return ``None``: the workers' computers decide."""
        return None

    def place(self) -> Place:
        """Return the workers' computers; each run's record names its own."""
        return Place("dask", "computers of a Dask cluster", {})


TARGET = _Dask()
