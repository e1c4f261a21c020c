"""Loss of a parallel run by place and cause; the parts add up to the whole loss.

N processors lose N T_para - T_seq processor-seconds compared with one, N times the average latency by method 1
(latency-metric.txt 6.1). Each part is what N processors spend beyond what one processor spends; if the work grows with
N, beyond N times that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping as MappingABC
from collections.abc import Sequence
from pathlib import PurePath
from typing import NamedTuple

import numpy as np
import pandas as pd

from scalegraph.analyze.charges import BUSY, STALL, UNEVEN, WAITS, WORDS, Charges, Place, Places, charges, worked
from scalegraph.analyze.loops.dealing import dealing
from scalegraph.base.run import LIBRARY, Region, RunRecord
from scalegraph.measurements.mapping import Mapping
from scalegraph.measurements.model import MeasurementSet

COLUMNS = ("place", "name", "kind", "file", "line", "inside", "dealing", "cause", "words", "loss_s", "share", "gain")
_NOTHING_WRONG = 0.05  # of processor time
_EVEN = 0.2  # relative tolerance for operations to count as growing with N
_NOT_LOST = (BUSY, STALL)  # without a reference run, these categories are not counted as loss
_AT_CALL = ("message_s", "message_wait_s", "transfer_wait_s", "other_wait_s")


class Whole(NamedTuple):
    """The whole that a loss table is part of, kept as its ``attrs["whole"]``.

    *processor_s*: N T_para; *loss_s*: the sum of the parts; *reference*: processor count of the reference run, None
    without one; *grows*: the work grows with N, and the reference counts N times.
    """

    processor_s: float
    loss_s: float
    reference: int | None
    grows: bool

    @property
    def is_little(self) -> bool:
        """Whether so little is lost that nothing needs attention.

        Source: ScaleGraph.
        """
        return not self.processor_s or self.loss_s <= _NOTHING_WRONG * self.processor_s


def grows(run: RunRecord, one: RunRecord) -> bool:
    """Return whether *run* does the work of *one* on each of its processors: weak scaling.

    Source: Gustafson 1988.
    """
    times = run.point.processors / one.point.processors
    if not run.work_ops or not one.work_ops or times < 2:
        return False
    return abs(run.work_ops / one.work_ops / times - 1) <= _EVEN


def by_region(run: RunRecord, one: RunRecord | None, regions: Sequence[Region]) -> pd.DataFrame:
    """Return the loss of *run* against *one*, the same problem on fewer processors, by place and cause.

    Columns `COLUMNS`, most expensive part first: ``place`` region id; ``name``, ``kind``, ``file`` and ``line`` of the
    place, which may be a call (kind ``call``); ``inside`` where most of the cost is, if elsewhere; ``dealing``
    schedule, chunks and iterations of a loop with uneven work; ``cause`` and its ``words`` (as in `metrics.overheads`,
    plus ``busy_s`` for extra operations and ``atomic_s``); ``loss_s`` processor-seconds, negative where N processors
    spend less. They add up to N T_para - N_1 T_1, or to N T_para - N T_1 if the work `grows`. ``share``: share of the
    sum of all losses, ignoring gains; 0 for a gain. ``gain``: the corresponding share for a gain, otherwise 0. Waiting
    is charged to its cause (`charges`). Without *one*, everything except computing and memory stalls counts as lost.
    Empty if a run has no costs by region or no clock. ``attrs["whole"]``: `Whole`.

    ``attrs["worked"]``: processor-seconds in each region including everything it calls.

    Shape: one row for each place and cause. Unit: processor-seconds; shares have none. Source: latency-metric.txt 6.1;
    waiting: Tallent and Mellor-Crummey 2009; Boehme, Geimer, Wolf 2010.
    """
    if not (run.regions and run.clock_hz) or (one is not None and not (one.regions and one.clock_hz)):
        return pd.DataFrame(columns=pd.Index(COLUMNS))
    both = (run,) if one is None else (run, one)
    places = Places(regions, *both)
    lost: Charges = defaultdict(float)
    for key, cycles in charges(run, places).items():
        if one is not None or key[1] not in _NOT_LOST:
            lost[key] += cycles / run.clock_hz
    growing = one is not None and grows(run, one)
    if one is not None and one.clock_hz:
        times = run.point.processors / one.point.processors if growing else 1.0
        for key, cycles in charges(one, places).items():
            lost[key] -= times * cycles / one.clock_hz
    rows = []
    for (at, cause), value in _settled(lost).items():
        place = places.hottest(at, run) if cause in WAITS else at
        if value:
            how = dealing(run, places.of[place.region]) if cause == UNEVEN and place.region in places.of else ""
            rows.append((place.region, *place[1:5], place.inside, how, cause, WORDS[cause], value))
    table = _ranked(rows)
    whole = run.processor_cycles / run.clock_hz
    reference = None if one is None else one.point.processors
    table.attrs["whole"] = Whole(whole, float(table["loss_s"].sum()), reference, growing)
    table.attrs["worked"] = {number: cycles / run.clock_hz for number, cycles in worked(run).items()}
    return table


def _settled(lost: Charges) -> Charges:
    """Return *lost* with all waits at a place merged, and without work that only moved between places."""
    found: Charges = defaultdict(float)
    together: dict[tuple[object, ...], list[tuple[Place, str, float]]] = defaultdict(list)
    for (place, cause), value in lost.items():
        at_call = place.kind == "call" and cause in _AT_CALL
        group = "call" if at_call else "waits" if cause in WAITS else cause
        named = place.kind in ("call", "lock") or not place.line  # a line may contain several calls
        together[place.file, place.line, place.kind, place.name if named else "", group].append((place, cause, value))
    for parts in together.values():
        place, cause, _ = max(parts, key=lambda part: part[2])
        found[place, cause] += sum(value for _, _, value in parts)
    for cause in (BUSY, STALL):
        _net(found, cause)
    return found


def _net(lost: Charges, cause: str) -> None:
    """Cancel work that is in one place in one run and elsewhere in the other: only the difference is a loss or gain."""
    of = {key: value for key, value in lost.items() if key[1] == cause}
    more = sum(value for value in of.values() if value > 0)
    less = -sum(value for value in of.values() if value < 0)
    kept = max(more, less) - min(more, less)
    for key, value in of.items():
        side, is_kept = (more, more >= less) if value > 0 else (less, less > more)
        lost[key] = value * kept / side if is_kept and side else 0.0


def by_path(measured: MeasurementSet, meaning: Mapping, point: int, reference: int) -> pd.DataFrame:
    """Return the loss of the set's point *point* against *reference*, by call path: columns `COLUMNS`.

    Uses the time metric of *meaning*, converted to exclusive values if needed, and the median of repetitions. ``cause``
    is ``time``, ``place`` the position of the call path. Times that are averages per processor are multiplied by the
    processor count. Empty without a processor count or a time.

    Shape: one row for each call path. Unit: processor-seconds; shares have none. Source: latency-metric.txt 6.1.
    """
    if not meaning.time or meaning.processors not in measured.points:
        return pd.DataFrame(columns=pd.Index(COLUMNS))
    metric = measured.metric(meaning.time)
    grid = measured.grid(metric)[:, [point, reference], :]
    known = np.isfinite(grid).any(axis=2)
    times = np.full(known.shape, np.nan)
    times[known] = np.nanmedian(grid[known], axis=1)
    if measured.metrics[metric].extent == "inclusive":
        times = measured.without_inside(times)
    spent = np.nan_to_num(times) * meaning.seconds
    if not meaning.summed:
        spent *= measured.points[meaning.processors].iloc[[point, reference]].to_numpy(dtype=np.float64)
    rows = [
        (index, path.name, "call path", path.file, path.line, "", "", "time", "time", float(lost))
        for index, (path, lost) in enumerate(zip(measured.call_paths, spent[:, 0] - spent[:, 1], strict=True))
        if lost
    ]
    return _ranked(rows)


def point_of(
    measured: MeasurementSet, meaning: Mapping, processors: int, parameters: MappingABC[str, object]
) -> int | None:
    """Return the position of the set's point on *processors* with these *parameters*; ``None`` if there is none.

    Unit: none (position). Source: ScaleGraph.
    """
    if meaning.processors not in measured.points:
        return None
    fits = measured.points[meaning.processors] == processors
    for name, value in parameters.items():
        if name in measured.points:
            fits &= measured.points[name].astype(object) == value
    found = np.flatnonzero(fits)
    return int(found[0]) if len(found) else None


def _ranked(rows: Sequence[tuple[object, ...]]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=pd.Index(COLUMNS[:-2]))
    losses = table["loss_s"].to_numpy(dtype=np.float64)
    gross = float(losses[losses > 0].sum())
    for name, values in (("share", losses), ("gain", -losses)):
        table[name] = np.maximum(values, 0.0) / gross if gross > 0 else np.nan
    return table.sort_values("loss_s", ascending=False, kind="stable").reset_index(drop=True)


def place_words(row: pd.Series | MappingABC[str, object]) -> str:
    """Return a place as text: ``barrier solve.c:88``, ``loop sweep (solve.c:40)``, ``MPI_Gather (gather.c:15)``.

    Source: ScaleGraph.
    """
    kind = str(row["kind"])
    where = f"{PurePath(str(row['file'])).name}:{row['line']}" if row["file"] and row["line"] else ""
    if kind == "program":
        return "the program"
    name = str(row["name"]).removesuffix(f":{row['line']}").removeprefix(f"{kind} ")
    if kind == LIBRARY:
        words = f"the call of {name} ({where})"
    elif kind == "line" or (kind == "call" and not name):
        words = where
    elif kind == "lock":
        words = f"what holds the lock that {name} takes ({where})" if name else f"what holds a lock ({where})"
    else:
        if kind not in ("function", "phase", "call path", "call"):
            name = kind if name in ("", kind) else f"{kind} {name}"
        words = f"{name} {where}" if name == kind and where else f"{name} ({where})" if where else name
    file, _, line = str(row.get("inside", "")).rpartition(":")
    return f"{words}, most of it at {PurePath(file).name}:{line}" if file else words
