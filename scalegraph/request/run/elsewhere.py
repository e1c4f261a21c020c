"""Where the runs of a request are carried out, if not on this host: workers of a cluster, or batch jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scalegraph.link import Link
from scalegraph.link.job import QueuedLink
from scalegraph.link.targets import WORKERS, Target

if TYPE_CHECKING:
    from scalegraph.link.cluster.batch import JobWriter
    from scalegraph.link.cluster.engine import Cluster


def cluster(link: Link | None) -> Cluster | None:
    """Return *link* if its workers are on a cluster; imported late, so that runs here do not wait for it."""
    if not isinstance(link, QueuedLink):
        return None
    from scalegraph.link.cluster.engine import Cluster

    return link if isinstance(link, Cluster) else None


def writer(link: Link | None) -> JobWriter | None:
    """Return *link* if it writes batch jobs; imported late, like `cluster`."""
    if link is None or isinstance(link, Target | QueuedLink):
        return None
    from scalegraph.link.cluster.batch import JobWriter

    return link if isinstance(link, JobWriter) else None


def refusal(target: Target, link: Link | None) -> str | None:
    """Return why *link* cannot carry out runs of *target*, ``None`` if it can."""
    if target.on_workers and cluster(link) is None:
        return f"target '{target.name}' has no workers; expected {WORKERS}"
    elsewhere = cluster(link) is not None or writer(link) is not None
    if elsewhere and target.source != "simulated" and not target.on_workers:
        return f"target '{target.name}' cannot run on workers elsewhere; they simulate, or measure for target 'dask'"
    return None
