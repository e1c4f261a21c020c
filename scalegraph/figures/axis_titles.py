"""Titles of axes as pictures show them."""

from __future__ import annotations

from scalegraph.figures.figure import Axis


def drawn(axis: Axis, heading: str) -> str:
    """Return *heading*, an axis' label with its unit, as a picture shows it: a logarithmic axis says so.

    Fixed ticks, such as processor counts, show it themselves.
    """
    if not axis.scale.startswith("log") or axis.ticks:
        return heading
    return f"{heading[:-1]}, log)" if heading.endswith(")") else f"{heading} (log)"
