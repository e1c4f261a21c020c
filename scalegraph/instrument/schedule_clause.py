"""The schedule clause of a static worksharing loop whose iterations the runtime hands out, see `schedules`."""

from __future__ import annotations

import re
from typing import Final

STATIC: Final = "schedule(monotonic:runtime)"
"""The clause for a loop without one."""

_NO_MODIFIER = re.compile(r"\b(non)?monotonic\s*[:,]\s*", re.IGNORECASE)


def clause_at_run_time(inside: str) -> str | None:
    """Return the new clause, given the text between the parentheses of the source's; None if it can stay."""
    modified = ":" in inside.partition(",")[0] or "monotonic" in inside.lower()
    plain = _NO_MODIFIER.sub("", inside)
    simd = re.match(r"\s*simd\s*:\s*", plain, re.IGNORECASE)
    kind, _, chunk = plain[simd.end() if simd else 0 :].partition(",")
    extra = "simd, " if simd else ""
    if kind.strip().lower() not in ("static", "auto"):
        return f"schedule({plain})" if modified else None
    if chunk.strip():
        return f"schedule({extra}monotonic:dynamic, {chunk.strip()})"
    return f"schedule({extra}monotonic:runtime)"
