"""A study's findings in sentences, with the numbers and places behind them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from scalegraph.analyze import culprits, loss, verdicts
from scalegraph.base.errors import InputError
from scalegraph.base.units import plain
from scalegraph.figures.figure import LOSS, Column, Figure, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects import series as series_
from scalegraph.subjects.judgement import gains, lost_on, parts, said
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs, ways
from scalegraph.views.view import View

_TITLE = "Verdicts"
_NEED = needs.counts("A verdict needs one problem on one and on more processors, or runs whose work grows with N.")
_SHOWN = 30
_KINDS = {"strong": "strong scaling", "weak": "weak scaling", "loss": "what is lost", "timed": "the timed part"}


def _make(data: StudyData, size: object = None, processors: object = None) -> Figure | Need:
    found = [item for item in said(data, size) if item.kind != "estimated"]
    if not found:
        return _NEED
    rows = tuple(
        Row((_KINDS[item.kind], item.text, item.rating), 0, "" if item.place is None else str(item.place))
        for item in found
    )
    loss_of = "Loss"
    panels = [Table((Column("of"), Column("verdict"), Column("rating")), rows)]
    series = series_.chosen_series(data, size)
    count = None if processors is None else int(str(processors))
    lost = parts(data, series, count)
    if series is not None and count is not None and lost is None and parts(data, series) is not None:
        known = ", ".join(str(n) for n in series.processors if n > 1)
        raise InputError(f"processors: no loss on {count}; it is known on {known}")
    if lost is not None and len(lost):
        usual = lost_on(data, series)
        checked = gains(data, series) if count in (None, usual) else {}
        panels.append(_parts(lost, checked, usual))
        loss_of = f"Loss on N = {usual if count is None else count}"
    limits = ", ".join(f"{name} from {plain(limit)}" for limit, name in verdicts.RATINGS[:-1])
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        " ".join(item.text for item in found[:2]),
        tuple(panels),
        notes=(
            f"Efficiencies are called {limits}, else {verdicts.RATINGS[-1][1]}.",
            f"{loss_of}: {_compared(lost)}; shares are of all that is lost, below 0 where something is gained.",
            *common.run_notes(data),
        ),
        ways=ways.to_measurements(data),
    )


def _compared(lost: pd.DataFrame | None) -> str:
    """Return the meaning of the sum of the loss's parts."""
    whole: loss.Whole | None = None if lost is None else lost.attrs.get("whole")
    if whole is None or (whole.reference == 1 and not whole.grows):
        return "processor time beyond that of one processor; the parts add up to all of it"
    if whole.reference is None:
        return "processor time spent not computing, as there is no run on fewer processors"
    other = "one processor" if whole.reference == 1 else f"{whole.reference} processors"
    return f"processor time beyond that of {other}" + (", whose work grows with N" if whole.grows else "")


def _parts(lost: pd.DataFrame, checked: Mapping[str, float], processors: int) -> Table:
    """Return the largest parts; *checked* has the speedup if a part were removed, by `culprits.target_of`."""
    deals = bool((lost.head(_SHOWN)["dealing"] != "").any())
    columns = [Column("cause"), Column("share", LOSS), Column("place"), Column("loss", "s", "mark")]
    if checked:
        columns.insert(2, Column("removing it", "times as fast"))
        lost = culprits.ordered(lost, checked, processors)
    if deals:
        columns.append(Column("how it deals out"))
    rows = []
    for _, row in lost.head(_SHOWN).iterrows():
        share = 100 * float(row["share"] - row["gain"]) if row["share"] == row["share"] else None
        gain = (checked.get(culprits.target_of(row)),) if checked else ()
        cells = (str(row["words"]), share, *gain, loss.place_words(row), float(row["loss_s"]))
        rows.append(Row((*cells, *((str(row["dealing"]),) if deals else ())), 0, str(int(row["place"]))))
    return Table(tuple(columns), tuple(rows))


VIEW = View(
    "verdicts",
    _TITLE,
    "Strong and weak scaling in words, and the causes and places of the loss.",
    _make,
    (common.SIZE, common.PROCESSORS),
    group="Scalability",
    order=5,
    needs=(_NEED,),
)
