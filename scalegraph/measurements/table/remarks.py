"""Texts that differ between runs of one point: a remark on the run (``ok``, ``noisy``), or an axis of the study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING

from scalegraph.measurements import names
from scalegraph.measurements.table.layout import is_missing

if TYPE_CHECKING:
    from scalegraph.measurements.table.columns import Column

_REMARK = "its texts differ between repetitions of one point, as remarks do"
_UNCLEAR = "texts that differ between runs of one point"
_USUAL = 0.5  # share of the points that each text of an axis has at least
# what runs are compared by: never a remark
_AXES = names.words(
    "compiler variant version schedule method mode algorithm algo implementation impl backend machine cluster system "
    "kernel program code config configuration case problem dataset input matrix mesh library lib strategy model type "
    "precision layout binding flags optimization partition queue platform device language api experiment benchmark "
    "name test scaling solver scheme option options build branch commit label series architecture arch cpu gpu"
)


def told(columns: list[Column], rows: Sequence[Sequence[str]]) -> list[Column]:
    """Return the columns, remarks left out: texts that differ between the repetitions of a point and nothing else.

    An axis has every text once with every point, or equally often. A remark comes now and then: points have equally
    many runs, but the texts do not. Where neither holds, the column is unsure.
    """
    keys = [item.index for item in columns if item.role in ("parameter", "call_path", "metric_name")]
    made = []
    for item in columns:
        if item.role == "parameter" and item.kind == "text" and item.why == "it holds texts" and not _is_axis(item):
            others = [index for index in keys if index != item.index]
            whole = [row for row in rows if len(row) > max([item.index, *others])]
            item = _judged(
                item, [tuple(row[index] for index in others) for row in whole], [r[item.index] for r in whole]
            )
        made.append(item)
    return made


def _is_axis(item: Column) -> bool:
    short = names.plain(item.name)
    return short in names.SIZES or bool(_AXES & set(short.split("_")))


def _judged(item: Column, points: Sequence[tuple[str, ...]], texts: Sequence[str]) -> Column:
    """Return the column with *texts*, of runs at *points*."""
    texts = ["" if is_missing(text) else text.strip() for text in texts]
    runs, each = Counter(points), Counter(zip(points, texts, strict=True))
    if len(runs) < 2 or len(each) == len(runs):  # one text at each point
        return item
    shares = {text: sum(1 for _, other in each if other == text) / len(runs) for text in set(texts)}
    if len(set(each.values())) == 1 and min(shares.values()) > 1 / len(runs):
        return item
    if len(set(runs.values())) == 1 and len(set(each.values())) > 1:
        keep = quote(f"{item.title}=parameter")
        return replace(item, role="skip", confidence=0.8, why=f"{_REMARK}; --column {keep} keeps them apart")
    if all(share == 1 for share in shares.values()):
        return item
    likely = "parameter" if min(shares.values()) >= _USUAL else "skip"
    return replace(item, role=likely, confidence=0.5, why=_UNCLEAR)  # type: ignore[arg-type]
