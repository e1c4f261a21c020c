"""Overestimation by the time bound, compared with the efficiency bound (scale-graph.txt 6.4.1, eq. 12 and 13)."""

from __future__ import annotations

from scalegraph.analyze import wording
from scalegraph.analyze.matrix import over_estimation
from scalegraph.base.units import significant
from scalegraph.figures.columns import known
from scalegraph.figures.figure import Column, Figure, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects import matrices
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_NEED = needs.sizes("This compares the time bound with the efficiency bound.", "time", "efficiency")
_TITLE = "Over-estimation by the time bound"


def _make(data: StudyData, efficiency: float | None = None, time: float | None = None) -> Figure | Need:
    bounded = matrices.matrix(data, "time", target=time)
    held = matrices.matrix(data, "efficiency", target=efficiency)
    made, _ = matrices.trimmed([one for one in (bounded, held) if one is not None])
    if len(made) < 2:
        return _NEED
    table = over_estimation(made[0], made[1])
    both = table[table["latency_ratio"].notna()]
    if both.empty:
        return _NEED
    names = ("latency_ratio", "eq12", "eq13", "efficiency_conserved", "excess")
    rows = tuple(
        Row(
            (int(row["n"]), int(row["n2"]), *(known(float(row[name])) for name in names)),
            key=f"{int(row['n'])},{int(row['n2'])}",
        )
        for row in both.to_dict("records")
    )
    columns = (
        Column("N"),
        Column("N'"),
        Column("time bound, L/L'", bar_role="latency"),
        Column("from the shares lost, (1-E)/(1-E')"),
        Column("from efficiencies, E'/E"),
        Column("efficiency held", bar_role="efficiency"),
        Column("excess", bar_role="mark"),
    )
    excess = both["excess"].dropna()
    sentence = "No pair of processor counts meets both bounds, so the excess is not known."
    if len(excess):
        worst = both.iloc[int(both["excess"].fillna(float("-inf")).to_numpy().argmax())]
        sentence = (
            f"From {int(worst['n'])} to {int(worst['n2'])} processors the time bound gives"
            f" {significant(float(worst['latency_ratio']))}, with the efficiency held it is"
            f" {significant(float(worst['efficiency_conserved']))}."
        )
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        sentence,
        (Table(columns, rows),),
        notes=(
            f"Time held at {wording.target_words(made[0])}, efficiency held at {wording.target_words(made[1])}.",
            (
                "Low efficiencies close to one another make the time bound look good: the ratio of the shares lost"
                " then tends to 1."
            ),
        ),
    )


VIEW = View(
    "overestimation",
    _TITLE,
    "The scalability by the time bound compared with that by the efficiency bound, for every pair of counts.",
    _make,
    (matrices.EFFICIENCY, matrices.TIME),
    needs=(_NEED,),
)
