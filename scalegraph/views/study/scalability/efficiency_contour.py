"""Efficiency over processors and work, with lines of equal efficiency: the isoefficiency function from runs."""

from __future__ import annotations

from scalegraph.analyze import bounds, fields
from scalegraph.analyze.metrics import work_unit
from scalegraph.base.units import plain
from scalegraph.figures.figure import Axis, Figure
from scalegraph.figures.way import Need
from scalegraph.subjects import matrices
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.scalability import field_common
from scalegraph.views.view import View

_NEED = needs.sizes(
    "Efficiencies over N and size need several sizes on one processor and on two or more other counts.", "efficiency"
)
_TITLE = "Lines of equal efficiency"
_LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def _make(data: StudyData, efficiency: float | None = None) -> Figure | Need:
    found = None if data.one_program.empty else fields.over_work(data.one_program, "efficiency")
    if found is None:
        return _NEED
    unit = work_unit(data.one_program)
    held = matrices.held_at(data, "efficiency", efficiency)
    handles = () if held is None else (matrices.efficiency_handle(held[0], "value"),)
    met = [] if held is None else bounds.anchors(data.one_program, "efficiency", held[0], tolerance=held[1])
    met = [one for one in met if one.processors > 1]
    low, high = field_common.limits(found)
    axis = Axis("efficiency", limits=(min(0.0, low), max(1.0, high)))
    panel = field_common.panel(found, axis, unit, _LEVELS, handles)
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        field_common.sentence(met, f"an efficiency of {plain(held[0])}" if held else "", unit),
        (panel,),
        notes=(field_common.NOTE, common.work_note(data), *common.run_notes(data)),
    )


VIEW = View(
    "efficiency-contour",
    _TITLE,
    "Efficiency over N and work as a map; a line is the isoefficiency function, the work that keeps the efficiency.",
    _make,
    (matrices.EFFICIENCY,),
    needs=(_NEED,),
)
