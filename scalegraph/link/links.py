"""How busy the links of the interconnect were: from the runtime's records to the run's."""

from __future__ import annotations

from scalegraph.base.links import LinkLoads
from scalegraph.link.job import Job
from scalegraph.runtime.results import Result


def link_loads(job: Job, result: Result) -> LinkLoads | None:
    """Return the loads of links from the LINK records; ``None`` if the machine has no links or none was used."""
    columns, wire = result.columns("LINKS"), job.machine.interconnect
    if not columns["name"] or wire is None:
        return None
    values = wire.model_dump()
    each = job.machine.nodes.processors or 1
    # Not validated: the runtime's format has only such numbers, and a check takes as long as reading them.
    return LinkLoads.model_construct(
        kind=str(values["kind"]),
        shape={name: value for name, value in values.items() if isinstance(value, int) and value >= 0},
        nodes=-(-job.point.processors // each),
        width=max(1, columns["width"][0]),
        name=tuple(name.decode("ascii", "replace") for name in columns["name"]),
        bytes=tuple(columns["bytes"]),
        transactions=tuple(columns["transactions"]),
        busy=tuple(columns["busy"]),
        waiting=tuple(columns["waiting"]),
        spans=tuple(columns["spans"]),
    )
