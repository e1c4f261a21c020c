"""The record of a measured run, from the outcome of its process and the monitor's results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from scalegraph.base.measures import percent
from scalegraph.base.run import Region, RegionCost, RunRecord, Status
from scalegraph.base.units import si
from scalegraph.link import accounting
from scalegraph.link.accounting import Account
from scalegraph.link.job import Job
from scalegraph.link.process import Outcome
from scalegraph.link.targets.base import Place
from scalegraph.link.words import failure_message
from scalegraph.runtime.format import CATEGORY_GROUPS
from scalegraph.runtime.results import Result

_NOTICED = 0.02  # another program's share of the processors' time that is worth a remark
_STARTING = 0.1  # share of the time spent starting and ending MPI that is worth a remark
_DISTURBED = 0.1  # the monitor's own share that is worth a remark
_LISTED = 6


def make_measured(
    job: Job,
    outcome: Outcome,
    place: Place,
    results: Sequence[Result] = (),
    remarks: Iterable[str] = (),
    operating: accounting.Operating | None = None,
) -> RunRecord:
    """Return the record of a measured run of *job* at *place*; values that were not measured are ``None``.

    *results*: the monitor's, one per process; *operating*: see `accounting.combined`. ``time_s`` (s) is the program's
    time from before its ``main`` to its exit, or the whole process's where there is no monitor.
    """
    status = status_of(job, outcome)
    timed = status in ("ok", "failed")
    fields: dict[str, Any] = {"time_s": outcome.host_s if timed else None}
    said = [*remarks, *end_remarks(job, outcome)]
    if timed and results:
        account = accounting.combined(job, results, operating)
        fields = _costs(job, account)
        said += _observations(job, account)
    return RunRecord(
        source="measured",
        program=job.name,
        machine=place.name,
        point=job.point,
        status=status,
        message=failure_message(status, "", outcome, (), job.limits.time_s),
        exit_code=outcome.exit_code if timed else None,
        signal=outcome.signal,
        warnings=tuple(said),
        host_s=outcome.host_s,
        processes=job.processes or None,
        threads_per_process=job.point.processors // job.processes if job.processes else None,
        stdout=outcome.stdout,
        stderr=outcome.stderr,
        **fields,
    )


def _costs(job: Job, account: Account) -> dict[str, Any]:
    """Return the fields of the record that come from the monitor's *account*."""
    categories = account.categories()
    groups = dict.fromkeys(("busy", "idle", "primitive"), 0)
    for name, ticks in categories.items():
        groups[CATEGORY_GROUPS[name]] += ticks
    folded = _Folding(job.build.regions, account, job.measuring.fold_s)
    return {
        "time_cycles": account.ticks,
        "time_s": account.ticks / account.hertz,
        "clock_hz": account.hertz,
        **{f"{group}_s": ticks / account.hertz for group, ticks in groups.items()},
        "categories": categories,
        "counters": account.counters(),
        "processor_categories": account.by_processor(),
        "regions": folded.costs(),
    }


@dataclass(frozen=True)
class _Folding:
    """Regions whose visits take less than *limit_s* on average, added to the regions that contain them."""

    regions: tuple[Region, ...]
    account: Account
    limit_s: float

    def targets(self) -> dict[int, int]:
        """Return, for each region too cheap to be shown by itself, the region that it is added to."""
        parents = {region.id: region.parent or 0 for region in self.regions}
        cheap = self.account.cheap(self.limit_s)
        found = {}
        for region in cheap:
            at = parents.get(region, 0)
            while at in cheap and at != 0:
                at = parents.get(at, 0)
            found[region] = at
        return found

    def costs(self) -> tuple[RegionCost, ...]:
        return self.account.regions(self.targets())


def status_of(job: Job, outcome: Outcome) -> Status:
    """Return how a measured run of *job* ended."""
    if outcome.cancelled:
        return "cancelled"
    if outcome.timed_out:
        return "timeout"
    if outcome.signal is not None:
        return "crashed"
    return "failed" if outcome.exit_code and not job.options.accepts(outcome.exit_code) else "ok"


def end_remarks(job: Job, outcome: Outcome) -> Iterable[str]:
    """Yield remarks on an accepted exit code and on truncated output."""
    if outcome.exit_code and job.options.accepts(outcome.exit_code):
        yield f"ended with exit code {outcome.exit_code}, which is accepted"
    for name in outcome.truncated:
        yield f"{name} truncated at {job.limits.output_bytes} bytes"


def _observations(job: Job, account: Account) -> Iterable[str]:
    """Yield remarks: other programs, too many threads, the monitor's own cost, folded regions."""
    for processor, share in account.taken().items():
        if share > _NOTICED:
            yield f"other programs took {percent(share)} of the time of the thread on processor {processor}"
    if account.threads > job.point.processors and not job.processes:
        yield (
            f"up to {account.threads} threads shared {job.point.processors} processors; "
            "waiting of the surplus threads is left out"
        )
    starting = account.categories().get("prim_start", 0) / max(account.ticks * len(account.processors), 1)
    if starting > _STARTING:
        yield f"MPI_Init and MPI_Finalize took {percent(starting)} of the time; --timed clock leaves them out"
    own = account.monitor_share()
    if own > _DISTURBED:
        yield f"the monitor itself took {percent(own)} of the time; times of regions are compensated for that"
    folded = _Folding(job.build.regions, account, job.measuring.fold_s).targets()
    if folded:
        names = {region.id: f"{region.name} ({region.file}:{region.line})" for region in job.build.regions}
        shown = ", ".join(names.get(region, f"#{region}") for region in sorted(folded)[:_LISTED])
        more = f" and {len(folded) - _LISTED} more" if len(folded) > _LISTED else ""
        limit = si(job.measuring.fold_s, "s")
        yield f"regions with visits shorter than {limit} are added to the regions that contain them: {shown}{more}"
