"""What the samples of a run yield: confidence intervals (`sample_errors`), or why the whole run was simulated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scalegraph.base.run import RunRecord
from scalegraph.base.sampling import Sampled, SampledPhase
from scalegraph.base.units import significant
from scalegraph.link.build import Build
from scalegraph.link.sample_errors import PART, UNLIKE, Stratum, Visit, intervals
from scalegraph.runtime.format import CATEGORY_NAMES, COUNTER_NAMES
from scalegraph.runtime.observed import PHASE_DIFFERS, PHASE_KINDS, PHASE_WHY
from scalegraph.runtime.results import Result

_LEAST_VISITS = 6  # of a phase: one not measured, four measured, then one that may be skipped
_REFUSED = "the run is not sampled: "
_RESOLUTION = 1e-4  # of a number: less is not claimed


def noted(record: RunRecord, build: Build, result: Result, *, unasked: bool) -> RunRecord:
    """Return *record*, of a run that was to be sampled, with the sampling results in *result* and a remark for readers.

    Times that the program took itself are dropped from estimates: they have no samples. *unasked*: sampling has
    begun by itself. Then a run without skipped visits gets no remark.
    """
    found = _found(build, result, record)
    remarks = tuple(text for text in record.warnings if not text.startswith(_REFUSED))
    if found.skipped or not unasked:
        remarks += (found.remark(record.time_cycles),)
    fields: dict[str, Any] = {"sampled": found, "warnings": remarks}
    if found.skipped:
        fields["readings"] = ()
    return record.model_copy(update=fields)


def _found(build: Build, result: Result, record: RunRecord) -> Sampled:
    rows = result.rows("SAMPLED_PHASES")
    strata, unlike = _strata(result, rows)
    phases = _phases(build, rows, strata)
    refused = next((text.removeprefix(_REFUSED) for text in record.warnings if text.startswith(_REFUSED)), "")
    skipped = sum(phase.skipped for phase in phases)
    return Sampled(
        visits=sum(phase.visits for phase in phases),
        skipped=skipped,
        why="" if skipped else refused or _why(phases),
        intervals=_intervals(strata, unlike, record) if skipped else {},
        phases=phases,
    )


def _intervals(strata: Sequence[Stratum], unlike: Sequence[Visit], record: RunRecord) -> dict[str, float]:
    """Return the half widths of the intervals of what *record* counts."""
    found = intervals(strata, unlike, ("time_cycles", *CATEGORY_NAMES, *COUNTER_NAMES))
    counted = {"time_cycles": record.time_cycles or 0, **record.categories, **record.counters}
    return {name: found.get(name, 0.0) + _RESOLUTION * value for name, value in counted.items() if value}


def _strata(result: Result, phases: Sequence[Any]) -> tuple[list[Stratum], list[Visit]]:
    """Return the simulated visits of each of *phases*, and those of all with other work."""
    visits: list[list[Visit]] = [[] for _ in phases]
    unlike: list[list[Visit]] = [[] for _ in phases]
    for row in result.rows("SAMPLES"):
        (unlike if row["how"] == UNLIKE else visits)[row["phase"]].append(_visit(row))
    strata = [
        Stratum(tuple(some), len(other) if PHASE_WHY[phase["why"]] == PHASE_DIFFERS else 0)
        for some, other, phase in zip(visits, unlike, phases, strict=True)
    ]
    return strata, [visit for some in unlike for visit in some]


def _visit(row: Any) -> Visit:
    return Visit(
        how=row["how"],
        visit=row["visit"],
        simulated=row["simulated"],
        work=float(row["work"] + PART),
        copies=row["copies"],
        skipped=row["skipped"],
        skipped_work=float(row["skipped_work"] + row["skipped"] * PART),
        values={
            "time_cycles": row["cycles"],
            **dict(zip(CATEGORY_NAMES, map(_signed, row["categories"]), strict=True)),
            **dict(zip(COUNTER_NAMES, map(_signed, row["counters"]), strict=True)),
        },
    )


def _signed(value: int) -> int:
    """Return a 64-bit difference of counts as signed: a late processor's waiting at a barrier may be negative."""
    return value - 2**64 if value >= 2**63 else value


def _phases(build: Build, rows: Sequence[Any], strata: Sequence[Stratum]) -> tuple[SampledPhase, ...]:
    places = build.lines.lookup([row["address"] for row in rows])
    return tuple(
        SampledPhase(
            place=f"{file}:{line}" if file else hex(row["address"]),
            kind=PHASE_KINDS[row["kind"]],
            visits=row["visits"],
            measured=row["measured"],
            skipped=row["skipped"],
            spread=_spread(stratum) if row["measured"] > 1 else None,
            why=PHASE_WHY[row["why"]],
        )
        for row, (file, line, _), stratum in zip(rows, places, strata, strict=True)
    )


def _spread(stratum: Stratum) -> float:
    return min(stratum.spread(by_work=False), stratum.spread(by_work=True))


def _why(phases: Sequence[SampledPhase]) -> str:
    """Return why no visit was skipped, as the part of a sentence after a colon."""
    if not phases:
        return "the program has no parallel region of OpenMP, so it has no phases"
    most = max(phases, key=lambda phase: phase.visits)
    if most.visits < _LEAST_VISITS:
        begins = f"the phase that begins at {most.place} ({most.kind})"
        return f"no phase is repeated often enough; {begins} has most visits, {most.visits}, and needs {_LEAST_VISITS}"
    for why in (most.why, *PHASE_WHY[:1:-1]):
        refused = [phase for phase in phases if why and phase.why == why]
        if refused:
            worst = max(refused, key=lambda phase: phase.visits)
            begins = f"the phase that begins at {worst.place} ({worst.kind})"
            spread = "" if worst.spread is None else f" (by {significant(100 * worst.spread)} % from one to the next)"
            return f"{why}: {begins}{spread}"
    return "the program's phases do not recur in a regular order, or take too small a part of the time"
