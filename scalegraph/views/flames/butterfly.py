"""Tables of the callers and callees of one function, for studies and traces alike."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scalegraph.analyze import calltree
from scalegraph.analyze.calltree import Butterfly, Neighbour
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.views.figure import Column, Figure, Row, Table
from scalegraph.views.flames.building import Grown, number, share

ROOT = "(nothing above)"


def chosen(grown: Grown, wanted: object) -> str:
    """Return the function that *wanted* names, in full or in part, or as the end of a call path; else the dearest.

    Raises:
        InputError: there is none; the nearest name is given.

    """
    costs = calltree.by_function(grown.tree)
    if wanted is None or not str(wanted).strip():
        return next(iter(costs))
    text = str(wanted).strip()
    ends = (text, text.rpartition("->")[2], text.rpartition(" / ")[2])
    for end in ends:
        if end in costs:
            return end
    plain = next((name for name in costs if calltree.plain_name(name) in ends), None)
    part = plain or next((name for name in costs if text.lower() in name.lower()), None)
    if part is None:
        raise InputError(Fault(f"no region is called '{text}'{near(text, costs)}", key="function"))
    return part


def figure(view: str, title: str, grown: Grown, wanted: object, notes: Sequence[str] = ()) -> Figure:
    """Return callers, the function itself, and callees as three tables; a row's key leads on to that region."""
    name = chosen(grown, wanted)
    found = calltree.butterfly(grown.tree, name, ROOT)
    above, below = ("written in", "contains") if grown.lexical else ("caller", "callee")
    return Figure(
        view,
        title,
        _sentence(grown, found),
        (
            _neighbours(grown, found.callers, above, f"time in {name}", "of it in itself"),
            _middle(grown, found),
            _neighbours(grown, found.callees, below, f"time when below {name}", "of it in itself"),
        ),
        notes=(
            f"Shares are of {grown.base}. A click on a row goes on to that region.",
            *((f"It calls itself {int(found.again):,} times; that time counts once.",) if found.again > 0 else ()),
            *notes,
        ),
        meta={"function": name},
    )


def _neighbours(grown: Grown, rows: Sequence[Neighbour], who: str, total: str, own: str) -> Table:
    unit = grown.value.unit
    return Table(
        (
            Column(who), Column(total if len(total) < 30 else "time", unit, "muted"), Column("share", "%", "muted"),
            Column(own, unit), Column("visits"),
        ),
        tuple(
            Row((one.name, one.total, _percent(one.total, grown.whole), one.own, _count(one.visits)), key=one.key,
                tip="\n".join(part for part in (f"{number(one.total, unit)}, {share(one.total, grown.whole)} of"
                                                f" {grown.base}", one.place) if part))
            for one in rows
        ),
    )  # fmt: skip


def _middle(grown: Grown, found: Butterfly) -> Table:
    unit = grown.value.unit
    return Table(
        (Column("function"), Column("inclusive", unit, "muted"), Column("share", "%", "muted"),
         Column("exclusive", unit), Column("visits")),
        (Row((found.name, found.total, _percent(found.total, grown.whole), found.own, _count(found.visits)),
             key=found.key),),
    )  # fmt: skip


def _percent(value: float, whole: float) -> float | None:
    return 100 * value / whole if whole > 0 else None


def _count(visits: float) -> int | None:
    return int(visits) if math.isfinite(visits) else None


def _sentence(grown: Grown, found: Butterfly) -> str:
    text = (
        f"{found.name} takes {share(found.total, grown.whole)} of {grown.base},"
        f" {share(found.own, grown.whole)} by itself"
    )
    verb = "is written in" if grown.lexical else "is called most expensively by"
    if found.callers and found.callers[0].name != ROOT:
        text += f"; it {verb} {found.callers[0].name}"
    if found.callees:
        text += f"; most of the rest is in {found.callees[0].name}"
    return text + "."
