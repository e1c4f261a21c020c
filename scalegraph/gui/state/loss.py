"""The navigator's region tree: which N it shows, and each region's share of that N's loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from scalegraph.base.measures import percent
from scalegraph.base.rows import records
from scalegraph.base.run import Region, RunRecord
from scalegraph.base.units import si

if TYPE_CHECKING:
    from scalegraph.subjects.study import StudyData


_NOTHING: Final = 5e-4  # smaller shares are shown as 0.0 %


@dataclass(frozen=True)
class RegionLoss:
    """One line of the tree. *share* (0 to 1) is inclusive, of the whole run's loss."""

    region: int
    parent: int | None
    name: str
    share: float
    tip: str


def region_losses(data: StudyData, processors: int | None) -> tuple[int | None, tuple[RegionLoss, ...]]:
    """Return the N shown and its regions, parents first.

    N is *processors* if a run with regions has it, else the largest with a one-processor run of the same problem. If
    there is none, no regions are returned.
    """
    pair = _pair(data, processors)
    if pair is None:
        return None, ()
    from scalegraph.analyze.profile import region_losses as losses

    run, one = pair
    table = losses(run, one, data.regions)
    return run.point.processors, tuple(_line(row) for row in records(table))


def by_share(losses: Sequence[RegionLoss]) -> list[RegionLoss]:
    """Return *losses* sorted by share among siblings; each comes before its children."""
    known = {loss.region for loss in losses}
    inside: dict[int | None, list[RegionLoss]] = {}
    for loss in losses:
        inside.setdefault(loss.parent if loss.parent in known else None, []).append(loss)
    found: list[RegionLoss] = []
    waiting = sorted(inside.get(None, []), key=lambda loss: loss.share)
    while waiting:
        found.append(waiting.pop())
        waiting += sorted(inside.pop(found[-1].region, []), key=lambda loss: loss.share)
    return found


def region_path(regions: Sequence[Region], region: int) -> str | None:
    """Return the call path of *region* in `StudyData.measured`: the names of its ancestors and its own."""
    known = {item.id: item for item in regions}
    names: list[str] = []
    here = known.get(region)
    while here is not None and len(names) <= len(known):
        names.append(here.name)
        here = known.get(here.parent or 0) if here.id != 0 else None
    return "->".join(reversed(names)) or None


def place_of_line(data: StudyData, key: str) -> dict[str, object]:
    """Return the selection for a line ``FILE:LINE``: the line and its innermost region; {} if *key* is not a line."""
    file, _, line = key.rpartition(":")
    if not file or not line.isdecimal():
        return {}
    number = int(line)
    around = [item for item in data.regions if item.file == file and item.line <= number <= item.end_line]
    inner = min(around, key=lambda item: item.end_line - item.line, default=None)
    return {"line": (file, number), "region": None if inner is None else inner.id}


def _pair(data: StudyData, processors: int | None) -> tuple[RunRecord, RunRecord] | None:
    ones = {_problem(run): run for run in data.runs if run.ok and run.point.processors == 1 and run.regions}
    found = [run for run in data.runs if run.ok and run.point.processors > 1 and run.regions and _problem(run) in ones]
    if not found:
        return None
    wanted = [run for run in found if run.point.processors == processors] or found
    run = shown_first(data, wanted)
    return run, ones[_problem(run)]


def shown_first(data: StudyData, runs: Sequence[RunRecord]) -> RunRecord:
    """Return the run that views show by default: of the main series, on the most processors."""
    from scalegraph.views.common import main_keys

    main = main_keys(data)
    return max(runs, key=lambda run: (run.point.key in main, run.point.processors, run.time_cycles or 0))


def _problem(run: RunRecord) -> tuple[Any, ...]:
    return (run.program, run.machine, run.source, tuple(sorted(run.point.parameters.items())))


def _line(row: dict[Any, Any]) -> RegionLoss:
    share = float(row["loss_share_incl"])
    share = 0.0 if math.isnan(share) or abs(share) < _NOTHING else share
    place = f"{row['file'].rsplit('/', 1)[-1]}:{row['line']}" if row["file"] else ""
    lost = f"loses {si(row['loss_incl_s'], 's', 4)} summed over processors, {percent(share, 1)} of the whole loss"
    kind, name = str(row["kind"]), str(row["name"]).removeprefix("function ")
    if kind not in ("function", "program") and not name.startswith(kind):
        name = f"{kind} {name}"
    return RegionLoss(
        int(row["region"]),
        None if int(row["parent"]) < 0 else int(row["parent"]),
        name,
        share,
        "\n".join(part for part in (name, place, lost) if part),
    )
