"""Weak scaling over N: time, efficiency and scaled speedup of a problem that grows with the processors."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scalegraph.analyze import weak
from scalegraph.analyze.table import numbers
from scalegraph.base.units import plain, significant
from scalegraph.figures.figure import Axis, Figure, Line, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects.study import StudyData
from scalegraph.subjects.weak_runs import series
from scalegraph.views import common, needs
from scalegraph.views.view import View

_NEED = needs.sizes(
    "Weak scaling needs runs on two or more processor counts of a problem that grows with them: sizes in a column, or"
    " measurements imported as weak scaling.",
    "time",
)
_TITLE = "Weak scaling"
_DRAWN = ("weak_efficiency", "scaled_speedup")


def _make(data: StudyData) -> Figure | Need:
    found = series(data)
    if found is None:
        return _NEED
    rows = found.rows.sort_values("processors").reset_index(drop=True)
    made = weak.efficiencies(found)
    rows = rows.assign(**{str(name): made[name].to_numpy() for name in made if name not in rows})
    counts = tuple(float(n) for n in rows["processors"])
    first = plain(counts[0])
    how = f"Relative to N = {first}: weak efficiency E = T({first})/T(N), scaled speedup S = N E."
    share = f"Gustafson's law S = N - s (N - {first}) gives the serial share s = (N - S)/(N - {first})."
    axis = common.processors_axis([int(n) for n in counts])
    efficiency = numbers(rows, "weak_efficiency")
    ideal = Line("ideal", counts, counts, "ideal", "computed", style="thin", markers=False)
    one = Line("ideal", counts, (1.0,) * len(counts), "ideal", "computed", style="thin", markers=False)
    top = max(1.0, float(np.nanmax(efficiency))) * 1.04
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        _sentence(made),
        (
            Plot(
                axis,
                Axis("scaled speedup", scale="log2"),
                (common.curve(rows, "scaled_speedup", "scaled speedup", "speedup"), ideal),
            ),
            Plot(
                axis,
                Axis("weak efficiency", limits=(0.0, top)),
                (common.curve(rows, "weak_efficiency", "weak efficiency", "efficiency"), one),
            ),
        ),
        notes=(how, share, *common.run_notes(data)),
    )


def _sentence(made: pd.DataFrame) -> str:
    last = made.iloc[-1]
    efficiency, speedup = (significant(float(last[name])) for name in _DRAWN)
    text = f"On {int(last['processors'])} processors the weak efficiency is {efficiency}, the scaled speedup {speedup}"
    share = float(last["serial_share"])
    if share >= 0:
        return f"{text}; Gustafson's law calls {significant(100 * share, 2)} % of the time serial."
    return f"{text}: time falls though the problem grows."


VIEW = View(
    "weak-scaling",
    _TITLE,
    "Scaled speedup and efficiency of a problem that grows with the processors, and Gustafson's serial share.",
    _make,
    needs=(_NEED,),
)
