"""Finds callers from the source, without a trace, for functions called from only one place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from scalegraph.base.run import Region

_ENDINGS: Final = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp")
_NO_CODE: Final = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)
_NAMES_AND_BRACES: Final = re.compile(r"\b[A-Za-z_]\w*\b|[{}]")
_MACRO: Final = re.compile(r"\s*#\s*define\b")


class Placed(NamedTuple):
    """*regions* with their only callers as parents; *called*: ids of the functions that were placed below a caller.

    *apart*: names of functions without a single caller.
    """

    regions: list[Region]
    called: frozenset[int]
    apart: list[str]


def placed(regions: Sequence[Region], texts: Mapping[str, str]) -> Placed:
    """Return *regions* with each function below the only region that calls it, and the names of other functions.

    A function stays where it is if it is called from several regions, if its name is used without a call (its address
    may be taken) or in a macro, or if not all sources are C or C++. *texts* are the sources by name.
    """
    functions = {_name(region): region for region in regions if region.kind == "function"}
    files = {region.file for region in regions if region.file}
    if not all(name.endswith(_ENDINGS) for name in texts) or not files <= set(texts):
        return Placed(list(regions), frozenset(), sorted(functions))
    callers: dict[str, set[int | None]] = {name: set() for name in functions}
    names = [_name(region) for region in regions if region.kind == "function"]
    for name in names:
        if names.count(name) > 1:
            callers[name].add(None)
    for file, text in texts.items():
        inside = [region for region in regions if region.file == file and region.end_line >= region.line > 0]
        for line, name, called in _uses(text, functions):
            around = _innermost(inside, line)
            if around is None:
                callers[name] |= {0} if called else {None}  # by the program, in a function that is not a region
            elif not _within(around, functions[name], regions):  # a call of itself changes nothing
                callers[name].add(around.id if called else None)
    above = {functions[name].id: found for name, found in callers.items()}
    moved = [_below(region, above.get(region.id)) for region in regions]
    apart = [name for name, region in functions.items() if len(above[region.id]) > 1 or None in above[region.id]]
    by_parent = frozenset(region for region, found in above.items() if len(found) == 1 and None not in found)
    return Placed(moved, by_parent, sorted(apart))


def _name(region: Region) -> str:
    return region.name.removeprefix("function ")


def _uses(text: str, names: Mapping[str, Region]) -> list[tuple[int, str, bool]]:
    """Return where *names* are used in *text*: line, name, and whether it is a call.

    Declarations, outside of all braces, are left out; where braces do not match, they count as calls.
    """
    bare = _NO_CODE.sub(lambda found: "\n" * found[0].count("\n") or " ", text)
    uses: list[tuple[int, str, bool]] = []
    declared: list[tuple[int, str, bool]] = []
    macro, matching, depth = False, True, 0
    for number, line in enumerate(bare.split("\n"), 1):
        macro = macro or _MACRO.match(line) is not None
        for found in _NAMES_AND_BRACES.finditer(line):
            word = found[0]
            if word in "{}":
                depth += 0 if macro else 1 if word == "{" else -1
                matching = matching and depth >= 0
            elif word in names:
                call = line[found.end() :].lstrip().startswith("(") and not macro
                (declared if call and depth == 0 else uses).append((number, word, call))
        macro = macro and line.endswith("\\")
    return uses if matching and depth == 0 else uses + declared


def _innermost(regions: Sequence[Region], line: int) -> Region | None:
    around = [region for region in regions if region.line <= line <= region.end_line]
    return min(around, key=lambda region: (region.end_line - region.line, -region.id), default=None)


def _within(region: Region, function: Region, regions: Sequence[Region]) -> bool:
    by_id = {one.id: one for one in regions}
    here: Region | None = region
    for _ in range(len(by_id) + 1):
        if here is None or here.id == function.id:
            return here is not None
        here = by_id.get(here.parent) if here.parent is not None else None
    return False


def _below(region: Region, callers: set[int | None] | None) -> Region:
    if callers is None or len(callers) != 1 or None in callers:
        return region
    return region.model_copy(update={"parent": next(iter(callers))})
