"""What the study says, in sentences, with the numbers and places behind them."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze import loss, reference, timed, verdicts
from scalegraph.analyze.series import Series
from scalegraph.analyze.table import PARAMETER, parameter_columns
from scalegraph.analyze.verdicts import Verdict
from scalegraph.base.errors import InputError
from scalegraph.figures.figure import LOSS, Column, Figure, Row, Table
from scalegraph.views import common, needs, ways
from scalegraph.views.data import StudyData
from scalegraph.views.view import View

_TITLE = "Verdicts"
_SHOWN = 30
_KINDS = {"strong": "strong scaling", "weak": "weak scaling", "loss": "what is lost", "timed": "the timed part"}


def parts(data: StudyData, series: Series, processors: int | None = None) -> pd.DataFrame | None:
    """Return the loss of *series* on *processors* (else its most) by place and cause; ``None`` where it is not known.

    See `loss.by_region` and `loss.by_path`.
    """
    least = max(1.0, *reference.others(series.rows), 1.0)
    rows = series.rows[series.rows["processors"] > least]
    rows = rows if processors is None else rows[rows["processors"] == processors]
    alone = series.rows[series.rows["processors"] == least]
    if rows.empty or alone.empty:
        return None
    last, first = rows.iloc[-1], alone.iloc[0]
    run, one = (data.by_key.get(str(row["keys"]).split(",")[0]) for row in (last, first))
    if run is not None and one is not None and run.regions:
        return loss.by_region(run, one, data.regions)
    if data.measured is None or data.meaning is None:
        return None
    points = [
        loss.point_of(
            data.measured,
            data.meaning,
            int(row["processors"]),
            {name.removeprefix(PARAMETER): row[name] for name in parameter_columns(series.rows)},
        )
        for row in (last, first)
    ]
    if points[0] is None or points[1] is None:
        return None
    return loss.by_path(data.measured, data.meaning, points[0], points[1])


def said(data: StudyData, size: object = None) -> list[Verdict]:
    """Return every verdict on the study; *size* as in `common.chosen_series`."""
    series = common.chosen_series(data, size)
    found = parts(data, series) if series is not None else None
    grows = data.meaning is not None and data.meaning.scaling == "weak"
    told = verdicts.all_of(data.scaling, series, found, grows=grows)
    own = timed_part(data, series)
    return [*told, Verdict("timed", own)] if own else told


def timed_part(data: StudyData, series: Series | None) -> str:
    """Return the sentence about what the program of *series* times itself, empty where that says nothing new."""
    if series is None:
        return ""
    keys = (str(keys).split(",")[0] for keys in series.rows["keys"])
    runs = [run for key in keys if (run := data.by_key.get(key)) is not None]
    return timed.sentence(timed.clock_part(runs), runs)


def culprit(data: StudyData, series: Series | None) -> str:
    """Return the sentence about the largest part of the loss of *series*, empty where it is not known."""
    found = parts(data, series) if series is not None else None
    if series is None or found is None or not verdicts.worth_telling(found):
        return ""
    return next((item.text for item in verdicts.lost(found, series.processors[-1])), "")


def _make(data: StudyData, size: object = None, processors: object = None) -> Figure:
    found = said(data, size)
    if not found:
        need = "A verdict needs one problem on one and on more processors, or runs whose work grows with N."
        return common.empty("verdicts", _TITLE, data, needs.counts(need))
    rows = tuple(
        Row((_KINDS[item.kind], item.text, item.rating), 0, "" if item.place is None else str(item.place))
        for item in found
    )
    loss_of = "Loss"
    panels = [Table((Column("of"), Column("verdict"), Column("rating")), rows)]
    series = common.chosen_series(data, size)
    count = None if processors is None else int(str(processors))
    lost = parts(data, series, count) if series is not None else None
    if series is not None and count is not None and lost is None and parts(data, series) is not None:
        known = ", ".join(str(n) for n in series.processors if n > 1)
        raise InputError(f"processors: no loss on {count}; it is known on {known}")
    if lost is not None and len(lost):
        panels.append(_parts(lost))
    if series is not None and lost is not None and len(lost):
        loss_of = f"Loss on N = {series.processors[-1] if count is None else count}"
    limits = ", ".join(f"{name} from {limit:g}" for limit, name in verdicts.RATINGS[:-1])
    return Figure(
        "verdicts",
        f"{_TITLE}: {common.study_title(data)}",
        " ".join(item.text for item in found[:2]),
        tuple(panels),
        notes=(
            f"Efficiencies are called {limits}, else {verdicts.RATINGS[-1][1]}.",
            f"{loss_of}: processor time beyond that of one processor; the parts add up to N T_para - T_seq.",
            *common.run_notes(data),
        ),
        ways=ways.to_measurements(data),
    )


def _parts(lost: pd.DataFrame) -> Table:
    rows = tuple(
        Row(
            (
                str(row["words"]),
                loss.place_words(row),
                float(row["loss_s"]),
                100 * float(row["share"]) if row["share"] == row["share"] else None,
            ),
            0,
            str(int(row["place"])),
        )
        for _, row in lost.head(_SHOWN).iterrows()
    )
    return Table((Column("cause"), Column("place"), Column("loss", "s", "mark"), Column("share", LOSS)), rows)


VIEW = View(
    "verdicts",
    _TITLE,
    "Scalability",
    "Strong and weak scaling in words, and which causes at which places the loss comes from.",
    _make,
    (common.SIZE, common.PROCESSORS),
    order=5,
)
