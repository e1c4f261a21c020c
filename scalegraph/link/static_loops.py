"""Static worksharing loops, read from a program's text: compilers deal out their iterations without the runtime.

Loops under other schedules call the runtime, which knows more about them (`base.loops`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from scalegraph.base.expression import parse
from scalegraph.base.run import Region
from scalegraph.link.build import BuiltSource
from scalegraph.link.scale import same_file

_FAR = 12  # lines from a directive to its loop
_CLAUSE = re.compile(
    r"\bschedule\s*\(\s*(?:[\w\s,]*:)?\s*(\w+)\s*(?:,\s*([^()]*(?:\([^()]*\))?[^()]*))?\)", re.IGNORECASE
)
_ORDERED = re.compile(r"\bordered\b", re.IGNORECASE)
_DEEP = re.compile(r"\bcollapse\s*\(\s*(?!1\s*\))", re.IGNORECASE)
_FOR = re.compile(
    r"\bfor\s*\(\s*(?:[\w:]+\s+)*(?P<i>\w+)\s*=\s*(?P<first>[^;=]+);\s*(?P=i)\s*(?P<until><=|>=|<|>|!=)\s*(?P<last>[^;]+);"
    r"\s*(?:(?P<one>\+\+|--)\s*(?P=i)|(?P=i)\s*(?:(?P<by>\+\+|--)|(?P<sign>[+-])=\s*(?P<step>[^)]+)))\s*\)"
)
_DO = re.compile(
    r"^\s*do\s+\w+\s*=\s*(?P<first>[^,\n]+),(?P<last>[^,\n!]+)(?:,(?P<step>[^,\n!]+))?", re.IGNORECASE | re.MULTILINE
)
_TEAM = re.compile(r"\b(?:omp_set_)?num_threads\s*\(")
_NAME = re.compile(r"[A-Za-z_]\w*")


def with_schedules(regions: Sequence[Region], sources: Iterable[BuiltSource]) -> tuple[Region, ...]:
    """Return *regions* with the schedule of static loops and, where the text has numbers for it, their iterations."""
    texts = {source.file: source.text for source in sources}
    chosen = any(_TEAM.search(text) for text in texts.values())  # the number of threads is then unknown
    found = tuple(_described(region, texts) if region.is_loop else region for region in regions)
    return tuple(one.model_copy(update={"iterations": None}) for one in found) if chosen else found


def _described(region: Region, texts: dict[str, str]) -> Region:
    text = next((text for file, text in texts.items() if same_file(file, region.file)), "")
    lines = text.splitlines()[region.line - 1 : region.end_line][:_FAR]
    near = "\n".join(lines)
    loop = _FOR.search(near) or _DO.search(near)
    directive = near[: loop.start()] if loop else near
    clause = _CLAUSE.search(directive)
    kind = clause[1].lower() if clause else "static"
    if kind not in ("static", "auto") or _ORDERED.search(directive):
        return region
    chunk = _number(clause[2], text) if clause and clause[2] else None
    words = kind + (f",{(chunk if chunk is not None else clause[2].strip())}" if clause and clause[2] else "")
    trips = None if loop is None or _DEEP.search(directive) else _trips(loop, text)
    return region.model_copy(update={"schedule": words, "iterations": trips})


def _trips(loop: re.Match[str], text: str) -> int | None:
    """Return the trip count of a loop; ``None`` if the text gives no value for a bound."""
    part = loop.groupdict()
    first, last = _number(part["first"], text), _number(part["last"], text)
    step = _number(part["step"], text) if part.get("step") else 1
    if first is None or last is None or not step:
        return None
    until = part.get("until")
    if until is None:  # Fortran
        return max(0, (last - first + step) // step)
    if until[0] == ">":
        first, last = last, first
    reach = abs(last - first) if until == "!=" else last - first + (until in ("<=", ">="))
    return max(0, -(-reach // abs(step)))


def _number(text: str, whole: str) -> int | None:
    """Return the value of *text*, in which each name has a single value in the program's text *whole*."""
    names = {name: _constant(name, whole) for name in set(_NAME.findall(text))}
    known = {name: value for name, value in names.items() if value is not None}
    if len(known) < len(names):
        return None
    try:
        value = parse(text.strip(), frozenset(known))(known)
    except ValueError:
        return None
    return int(value) if value == int(value) else None


def _constant(name: str, text: str) -> int | None:
    """Return the only value that *text* gives to *name*, if it is a whole number and nothing else changes it."""
    given = re.findall(rf"#\s*define\s+{name}\s+(.+)|\b{name}\s*=(?!=)\s*([^,;\n)}}]+)", text)
    changed = re.search(rf"\b{name}\s*(?:\+\+|--|[-+*/%]=)|(?:\+\+|--|&)\s*{name}\b", text)
    values = {(macro or value).strip() for macro, value in given}
    if len(values) != 1 or changed:
        return None
    value = next(iter(values)).partition("//")[0].partition("/*")[0].strip().strip("()")
    return int(value) if re.fullmatch(r"\d{1,15}", value) else None
