"""Average unit speed over processors and work, with lines of equal speed (isospeed.txt Fig. 5 and 13)."""

from __future__ import annotations

from scalegraph.analyze import bounds, fields
from scalegraph.analyze.metrics import speed_unit, work_unit
from scalegraph.base.units import si
from scalegraph.figures import contours
from scalegraph.figures.figure import Axis, Figure
from scalegraph.figures.way import Need
from scalegraph.subjects import matrices
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.study.isospeed import speed as isospeed_speed
from scalegraph.views.study.scalability import field_common
from scalegraph.views.view import View

_TITLE = "Lines of equal unit speed"


def _make(data: StudyData, speed: float | None = None) -> Figure | Need:
    found = None if data.one_program.empty else fields.over_work(data.one_program, "unit_speed")
    if found is None:
        return isospeed_speed.NEED
    unit = work_unit(data.one_program)
    of_speed = speed_unit(unit)
    held = matrices.held_at(data, "speed", speed)
    limits = field_common.limits(found)
    handles = () if held is None else (matrices.speed_handle(held[0], of_speed, limits, "value"),)
    met = [] if held is None else bounds.anchors(data.one_program, "speed", held[0], tolerance=held[1])
    panel = field_common.panel(
        found, Axis("unit speed W/(N T)", of_speed), unit, contours.round_levels(found.values), handles
    )
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        field_common.sentence(met, f"{si(held[0], of_speed)} a processor" if held else "", unit),
        (panel,),
        notes=(field_common.NOTE, common.work_note(data), *common.run_notes(data)),
    )


VIEW = View(
    "isospeed-contour",
    _TITLE,
    "Average unit speed over N and work as a map; it is constant along a line.",
    _make,
    (matrices.SPEED,),
    needs=(isospeed_speed.NEED,),
)
