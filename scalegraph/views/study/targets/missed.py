"""What the model misses: differences of measured and simulated time by region and cause, largest first."""

from __future__ import annotations

from scalegraph.analyze.targets import missed
from scalegraph.base.run import PROGRAM
from scalegraph.base.units import si
from scalegraph.figures.figure import Column, Figure, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.study.targets import pairs
from scalegraph.views.view import View

_TITLE = "What the model misses"
_SHOWN = 60
_NOTES = (
    "Processor time, summed over processors; above 0 the model has too little, below 0 too much.",
    "Memory stalls count as computing: measured runs cannot separate them.",
)


def _make(data: StudyData, size: object = None, processors: object = None) -> Figure | Need:
    pair = pairs.chosen(data, size, processors)
    names = {region.id: region for region in data.regions} | {PROGRAM.id: PROGRAM}
    found = [one for one in missed(pair, data.regions) if one.simulated_s or one.measured_s]
    if not found or not pair.measured.regions:
        return pairs.ACCOUNTS
    columns = (
        Column("region"),
        Column("cause"),
        Column("difference", "s", "time", compared=True),
        Column("simulated", "s", compared=True),
        Column("measured", "s", compared=True),
        Column("place"),
    )
    rows = []
    for one in found[:_SHOWN]:
        region = names.get(one.region or 0, PROGRAM)
        place = f"{region.file}:{region.line}" if region.line else ""
        values = (one.difference_s, one.simulated_s, one.measured_s)
        rows.append(Row((region.name, one.words, *values, place), key=str(one.region), tip=place))
    worst = found[0]
    more = "more" if worst.difference_s > 0 else "less"
    return Figure(
        f"{_TITLE}: {pairs.title(pair)}",
        f"The largest difference is {worst.words} in {rows[0].values[0]}: {si(abs(worst.difference_s), 's')} {more} "
        "measured than simulated.",
        (Table(columns, tuple(rows)),),
        notes=(
            *_NOTES,
            *((f"{len(found) - _SHOWN} smaller differences are left out.",) if len(found) > _SHOWN else ()),
        ),
    )


VIEW = View(
    "model-misses",
    _TITLE,
    "Differences of measured and simulated processor time by region and cause, the largest first.",
    _make,
    (common.SIZE, common.PROCESSORS),
    wide=True,
    needs=(pairs.BOTH, pairs.ACCOUNTS),
)
