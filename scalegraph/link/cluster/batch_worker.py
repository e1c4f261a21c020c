"""A worker in a batch job: ``python -m scalegraph.link.cluster.batch_worker`` with the arguments of Dask's worker."""

from __future__ import annotations

import sys

from scalegraph.base.workplaces import workplace
from scalegraph.link.cluster.attended import CONFIG, DIRECTORY


def main() -> None:
    """Run a worker whose files are in a directory of its own; if this one is killed, the next removes it."""
    import dask
    from distributed.cli.dask_worker import main as dask_worker

    dask.config.set(CONFIG)
    with workplace(DIRECTORY) as place:
        dask.config.set({"temporary-directory": str(place)})
        more = ["--nanny", "--no-dashboard", "--local-directory", str(place)]
        dask_worker.main([*sys.argv[1:], *more], standalone_mode=False)


if __name__ == "__main__":
    main()
