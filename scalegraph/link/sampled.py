"""What the samples of a run yield: confidence intervals, or the reason why the whole run was simulated.

A phase is a stratum. Some of its visits are measured at regular distances; each stands for the visits near it that were
skipped. The variance of one visit is the larger of half the mean square of successive differences (Wolter, Introduction
to Variance Estimation, 2007, chapter 8) and the variance of all samples: a trend over the run may be an artefact of
sampling, as skipped visits leave caches cold. What the interval does not cover: docs/SIMULATOR_DETAILS.md, "Sampling".
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scalegraph.base.run import RunRecord
from scalegraph.base.sampling import CONFIDENCE, Sampled, SampledPhase
from scalegraph.base.units import significant
from scalegraph.link.build import Build
from scalegraph.runtime.format import CATEGORY_NAMES, COUNTER_NAMES
from scalegraph.runtime.observed import PHASE_KINDS
from scalegraph.runtime.results import Result

_LEAST_VISITS = 6  # of a phase: one not measured, four measured, then one that may be skipped
_RECENT, _DRIFT, _LEAST_DRIFT = 8, 0.6, 0.003  # criteria for a trend in successive samples, as in the runtime
_REFUSED = "the run is not sampled: "
_PART = 1024  # work is counted in these fractions of a cycle


@dataclass(frozen=True)
class _Stratum:
    """The measured visits of a phase: their costs, their work, and the skipped visits that each stands for."""

    values: list[dict[str, int]]
    works: list[float]
    skipped: list[int]
    skipped_work: list[float]

    @property
    def times(self) -> list[float]:
        """Cycles of each visit."""
        return [float(value["time_cycles"]) for value in self.values]

    @property
    def per_work(self) -> list[float]:
        """Cycles per unit of work of each visit."""
        return [time / work for time, work in zip(self.times, self.works, strict=True)]

    def drifts(self, part: float) -> bool:
        """Whether visits were still getting cheaper, or dearer, when the last was measured.

        *part*: the phase's share of the time of all phases; a trend counts only if it matters for the total.
        """
        last = (self.per_work if self.by_work() else self.times)[-_RECENT:]
        if len(last) < 2 or statistics.stdev(last) * part <= _LEAST_DRIFT * sum(last) / len(last):
            return False
        return _successive(last) < _DRIFT * statistics.variance(last)

    def by_work(self) -> bool:
        """Whether a visit's time is predicted better by its work; the same rule as in the runtime."""
        return _spread(self.per_work) < _spread(self.times)

    def error(self, name: str) -> float:
        """Return the standard error of the estimated cost of the skipped visits."""
        by_work = self.by_work()
        units = self.works if by_work else [1.0] * len(self.works)
        costs = [value[name] / unit for value, unit in zip(self.values, units, strict=True)]
        amounts = self.skipped_work if by_work else self.skipped
        squares = sum(
            amount * amount * (1 + 1 / visits) for amount, visits in zip(amounts, self.skipped, strict=True) if visits
        )
        return math.sqrt(_variance(costs) * squares)


def noted(record: RunRecord, build: Build, result: Result, *, unasked: bool) -> RunRecord:
    """Return *record*, of a run that was to be sampled, with the sampling results in *result* and a remark for readers.

    Times that the program took itself are dropped from estimates: they have no samples. *unasked*: sampling was to
    begin by itself. Then a run in which it did not begin is returned as it is, and one without skipped visits gets
    no remark.
    """
    found = _found(build, result, record.warnings)
    if unasked and not found.phases:
        return record
    remarks = tuple(text for text in record.warnings if not text.startswith(_REFUSED))
    if found.skipped or not unasked:
        remarks += (found.remark(record.time_cycles),)
    fields: dict[str, Any] = {"sampled": found, "warnings": remarks}
    if found.skipped:
        fields["readings"] = ()
    return record.model_copy(update=fields)


def _found(build: Build, result: Result, warnings: Sequence[str]) -> Sampled:
    rows = result.rows("SAMPLED_PHASES")
    strata = [_stratum(result, number) for number in range(len(rows))]
    phases = _phases(build, rows, strata)
    refused = next((text.removeprefix(_REFUSED) for text in warnings if text.startswith(_REFUSED)), "")
    skipped = sum(phase.skipped for phase in phases)
    return Sampled(
        visits=sum(phase.visits for phase in phases),
        skipped=skipped,
        why="" if skipped else refused or _why(phases, strata),
        intervals=_intervals(strata) if skipped else {},
        phases=phases,
    )


def _stratum(result: Result, phase: int) -> _Stratum:
    rows = [row for row in result.rows("SAMPLES") if row["phase"] == phase]
    return _Stratum(
        [
            {
                "time_cycles": row["cycles"],
                **dict(zip(CATEGORY_NAMES, map(_signed, row["categories"]), strict=True)),
                **dict(zip(COUNTER_NAMES, map(_signed, row["counters"]), strict=True)),
            }
            for row in rows
        ],
        [float(row["work"] + _PART) for row in rows],
        [row["skipped"] for row in rows],
        [float(row["skipped_work"] + row["skipped"] * _PART) for row in rows],
    )


def _signed(value: int) -> int:
    """Return a 64-bit difference of counts as signed: a late processor's waiting at a barrier may be negative."""
    return value - 2**64 if value >= 2**63 else value


def _successive(values: Sequence[float]) -> float:
    """Return the variance of *values* from successive differences; 0 for a single value."""
    steps = [(b - a) ** 2 for a, b in itertools.pairwise(values)]
    return sum(steps) / (2 * len(steps)) if steps else 0.0


def _variance(values: Sequence[float]) -> float:
    """Return the variance of *values*, the larger of two estimates, so that a trend counts in full; 0 for one value."""
    return max(_successive(values), statistics.variance(values)) if len(values) > 1 else 0.0


def _spread(values: Sequence[float]) -> float:
    mean = sum(values) / len(values) if values else 0.0
    return math.sqrt(_successive(values)) / mean if mean > 0 else 0.0


def _intervals(strata: Sequence[_Stratum]) -> dict[str, float]:
    from scipy.special import stdtrit  # imported late: runs without sampling do not need it

    used = [stratum for stratum in strata if len(stratum.values) > 1 and any(stratum.skipped)]
    reaches = [float(stdtrit(len(stratum.values) - 1, (1 + CONFIDENCE) / 2)) for stratum in used]
    found = {}
    for name in ("time_cycles", *CATEGORY_NAMES, *COUNTER_NAMES):
        errors = [reach * stratum.error(name) for reach, stratum in zip(reaches, used, strict=True)]
        if any(value[name] for stratum in used for value in stratum.values):
            found[name] = math.hypot(*errors)
    return found


def _phases(build: Build, rows: Sequence[Any], strata: Sequence[_Stratum]) -> tuple[SampledPhase, ...]:
    places = build.lines.lookup([row["address"] for row in rows])
    return tuple(
        SampledPhase(
            place=f"{file}:{line}" if file else hex(row["address"]),
            kind=PHASE_KINDS[row["kind"]],
            visits=row["visits"],
            measured=row["measured"],
            skipped=row["skipped"],
            spread=min(_spread(stratum.times), _spread(stratum.per_work)) if row["measured"] > 1 else None,
        )
        for row, (file, line, _), stratum in zip(rows, places, strata, strict=True)
    )


def _why(phases: Sequence[SampledPhase], strata: Sequence[_Stratum]) -> str:
    """Return why no visit was skipped, as the part of a sentence after a colon."""
    if not phases:
        return "the program has no parallel region of OpenMP, so it has no phases"
    most = max(phases, key=lambda phase: phase.visits)
    begins = f"the phase that begins at {most.place} ({most.kind})"
    if most.visits < _LEAST_VISITS:
        return f"no phase is repeated often enough; {begins} has most visits, {most.visits}, and needs {_LEAST_VISITS}"
    whole = [
        phase.visits * statistics.fmean(stratum.times) if stratum.times else 0.0
        for phase, stratum in zip(phases, strata, strict=True)
    ]
    parts = [one / (sum(whole) or 1.0) for one in whole]
    steady = [phase for phase, stratum, part in zip(phases, strata, parts, strict=True) if stratum.drifts(part)]
    if steady:
        first = max(steady, key=lambda phase: phase.visits)
        return f"visits of the phase that begins at {first.place} ({first.kind}) become cheaper or dearer one by one"
    weights = dict(zip(phases, parts, strict=True))
    worst = max(phases, key=lambda phase: (phase.spread or 0.0) * weights[phase])
    if worst.spread is None:
        return f"the program's phases do not recur in a regular order; {begins} has most visits, {most.visits}"
    begins = f"the phase that begins at {worst.place} ({worst.kind})"
    return f"visits of a phase differ too much; those of {begins} by {significant(100 * worst.spread)} %"
