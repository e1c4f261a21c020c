"""Tables of the callers and callees of one function, for studies and traces alike."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scalegraph.analyze import calltree
from scalegraph.analyze.calltree import Butterfly, Neighbour
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.units import thousands
from scalegraph.figures.figure import Column, Figure, Row, Table
from scalegraph.views.flames.building import Grown, number, share

ROOT = "(nothing above)"
_ABOVE = {True: "calls it", False: "contains it"}
_BELOW = {True: "is called", False: "is inside it"}


def chosen(grown: Grown, wanted: object) -> str:
    """Return the function matching *wanted* (name, part of it, or end of a call path), else the most expensive.

    Raises:
        InputError: there is none; the message suggests the nearest name.

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
    """Return callers, the function, and callees as one table; a row's key leads to that function."""
    name = chosen(grown, wanted)
    found = calltree.butterfly(grown.tree, name, ROOT)
    unit = grown.value.unit
    columns = (
        Column("relation"),
        Column("region"),
        Column("inclusive", unit, "muted"),
        Column("share", grown.percent, "muted"),
        Column("exclusive", unit),
        Column("visits"),
    )
    middle = Neighbour(name, found.total, found.own, found.visits, found.key)
    rows = (
        *(_row(grown, _ABOVE[_called(grown, found.key)], one) for one in found.callers),
        _row(grown, "function", middle),
        *(_row(grown, _BELOW[_called(grown, one.key)], one) for one in found.callees),
    )
    return Figure(
        title,
        _sentence(grown, found),
        (Table(columns, rows),),
        notes=(
            f"Above {name}: its time below that region, and the part in {name} itself.",
            f"Below {name}: that region's time below {name}, and the part in the region itself.",
            f"Shares are of {grown.base}. Click a row to go to that region.",
            *((f"It calls itself{_often(found.again)}; that time counts once.",) if found.again else ()),
            *notes,
        ),
        meta={"function": name},
        view=view,
    )


def _called(grown: Grown, key: str) -> bool:
    """Return whether the function or region *key* is called by what is above it; otherwise it is written inside."""
    return not grown.lexical or key in grown.called


def _row(grown: Grown, relation: str, one: Neighbour) -> Row:
    share_of = 100 * one.total / grown.whole if grown.whole > 0 else None
    visits = int(one.visits) if math.isfinite(one.visits) else None
    return Row((relation, one.name, one.total, share_of, one.own, visits), key=one.key, tip=_tip(grown, one))


def _tip(grown: Grown, one: Neighbour) -> str:
    part = f"{number(one.total, grown.value.unit)}, {share(one.total, grown.whole)} of {grown.base}"
    return f"{part}\n{one.place}" if one.place else part


def _often(count: float) -> str:
    return "" if not math.isfinite(count) else " once" if count == 1 else f" {thousands(int(count))} times"


def _sentence(grown: Grown, found: Butterfly) -> str:
    text = (
        f"{found.name} takes {share(found.total, grown.whole)} of {grown.base},"
        f" {share(found.own, grown.whole)} by itself"
    )
    called = _called(grown, found.key)
    verb = "is called most expensively by" if not grown.lexical else "is called by" if called else "is part of"
    if found.callers and found.callers[0].name != ROOT:
        text += f"; it {verb} {found.callers[0].name}"
    if found.callees:
        text += f"; most of the rest is in {found.callees[0].name}"
    return text + "."
