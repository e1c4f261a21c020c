"""The simulated machine that the request names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scalegraph.base.errors import ScaleGraphError
from scalegraph.link.targets.base import Finding, Target

if TYPE_CHECKING:
    from scalegraph.base.cancel import CancelToken
    from scalegraph.base.run import RunRecord
    from scalegraph.link.job import Job


class _Simulated(Target):
    """`link.Simulated` as a target."""

    name = "simulated"
    title = "Simulated machine"
    help = "The machine of the request, simulated on this computer"
    source = "simulated"
    builds = "simulated"
    measures = ("time", "work", "regions", "waits", "messages", "memory", "trace", "what_if", "schedules")
    side_by_side = True
    order = 0

    def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:
        """Return the record of a simulated run; raises as `link.Simulated.run` does."""
        from scalegraph.link.simulated import Simulated

        return Simulated().run(job, cancel)

    def check(self) -> Finding:
        """Return whether there is a compiler; ``doctor`` checks the rest in detail."""
        from scalegraph.runtime.compiler import INSTALL, find_compiler

        try:
            found = find_compiler()
        except ScaleGraphError as error:
            return Finding("missing", str(error), INSTALL)
        return Finding("ok", f"simulated here, programs compiled by {' '.join(found.command)} {found.version}")

    def processors(self) -> int | None:
        """Return ``None``: the request's machine decides."""
        return None


TARGET = _Simulated()
