"""Virtual speedups: from the user's names to the scale file that the runtime reads (csrc/observe/sg_whatif.c).

A target is a kind and a name; for code also a part, if only its computation or only its memory stalls are sped up:

| target | what is divided by the factor | | --- | --- | | ``line:FILE:LINE``, ``line:FILE:FIRST-LAST`` | cost of the
blocks and memory stalls of these lines | | ``region:NAME``, ``region:FILE:LINE``, ``region:#ID`` | costs charged to the
region itself: its own row | | ``within:`` ditto | and everything that is called inside | | ``lock:NAME`` | the lock's
own operations (`prim_lock`); waiting follows | | ``held:NAME`` | computation and memory stalls of the lock's holder | |
``data:NAME``, ``data:0xLOW-0xHIGH`` | memory stalls of references to the variable or the range of addresses | |
``heap:FILE:LINE``, ``heap:NAME`` | the same for memory allocated at the line, or at the lines that assign to NAME | |
``cost:`` and a region | all costs charged to the region itself, including the runtime's work for it | | ``whole:`` and
a region | the same with all that is called inside | | ``section:FILE:LINE`` | computation and memory stalls while
holding a lock taken at the line | | ``call:FILE:LINE`` | the line, the runtime's work at its calls, and the messages
that they send |

Parts: ``line:FILE:LINE/compute``, ``line:FILE:LINE/memory``; the same for region, within and held. A lock is named by
its variable, or as ``critical`` (all sections without a name), ``critical:NAME`` or ``atomic``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import PurePath
from typing import Final, NamedTuple

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.patterns import pattern
from scalegraph.base.run import Region, Variant
from scalegraph.base.units import thousands
from scalegraph.link.build import Build

KINDS: Final = ("line", "region", "within", "lock", "held", "data", "heap", "cost", "whole", "section", "call")
_PARTS: Final = {"": 3, "compute": 1, "memory": 2}
_LARGEST: Final = 1_000_000
_CRITICAL, _ATOMIC = 1, 2  # SG_LOCK_CRITICAL, SG_LOCK_ATOMIC
_MOST = 64
_CRITICAL_PREFIX = ".gomp_critical_user_"
_LINES = pattern(r"(.+):(\d+)(?:-(\d+))?")
_ADDRESSES = pattern(r"(0x[0-9a-fA-F]+)(?:-(0x[0-9a-fA-F]+))?")
_Ranges = list[tuple[int, int]]


class Target(NamedTuple):
    """A target taken apart: *part* is empty for both parts."""

    kind: str
    name: str
    part: str


def factor_of(text: str) -> Fraction | None:
    """Return the factor in *text*, None for ``inf``; raise `ValueError` saying what was expected."""
    if text.strip().lower() in ("inf", "infinity", "∞"):
        return None
    try:
        factor = Fraction(text)
    except (ValueError, ZeroDivisionError):
        factor = Fraction(0)
    if not Fraction(1, 1000) <= factor <= _LARGEST or factor.denominator > 1_000_000:
        raise ValueError(f"expected a factor from 0.001 to {thousands(_LARGEST)} or inf, got '{text}'")
    return factor


def parse(target: str) -> Target:
    """Take *target* apart without looking anything up; raise `ValueError` saying what was expected."""
    kind, colon, rest = target.partition(":")
    if kind not in KINDS or not colon or not rest:
        hint = near(kind, KINDS) if colon else ""
        raise ValueError(f"'{target}': expected {', '.join(KINDS)} and a name, as in line:solve.c:88{hint}")
    name, slash, part = rest.rpartition("/")
    if not slash or part not in _PARTS:
        return Target(kind, rest, "")
    if kind in ("lock", "data", "heap", "cost", "whole", "section", "call"):
        raise ValueError(f"'{target}': a {kind} has no parts; expected '{kind}:{name}'")
    return Target(kind, name, part)


def scale_file(build: Build, variant: Variant) -> str:
    """Return the scale file for the speedups of *variant*; empty if it has none. Factors of 1 are left out.

    Raises `InputError` with every target that does not exist.
    """
    faults: list[Fault] = []
    text: list[str] = []
    for name, factor in variant.speedup.items():
        try:
            speed = factor_of(factor)
            target = parse(name)
            ranges = _RESOLVE[target.kind](build, target.name)
        except ValueError as error:
            faults.append(Fault(str(error), key="speedup"))
            continue
        if speed == 1:
            continue
        multiplier, divisor = (0, 1) if speed is None else (speed.denominator, speed.numerator)
        kind = "code" if target.kind == "line" else target.kind
        parts = 2 if kind in ("data", "heap") else _PARTS[target.part]
        text.append(f"item {kind} {parts} {multiplier} {divisor}")
        text += [f"range {low} {high}" for low, high in ranges]
        if kind == "call":  # and the line itself
            text += [f"item code 3 {multiplier} {divisor}", *(f"range {low} {high}" for low, high in ranges)]
    if sum(line.startswith("item") for line in text) > _MOST:
        faults.append(Fault(f"more than {_MOST} virtual speedups in one run", key="speedup"))
    if faults:
        raise InputError(faults)
    return "".join(f"{line}\n" for line in text)


def same_file(known: str, named: str) -> bool:
    """Whether *named* may mean the path *known*, which then ends with it."""
    parts, wanted = PurePath(known).parts, PurePath(named).parts
    return parts[-len(wanted) :] == wanted


def _file(known: Iterable[str], named: str) -> str:
    names = list(known)
    found = [name for name in names if name == named] or [name for name in names if same_file(name, named)]
    if len(found) > 1:
        raise ValueError(f"'{named}' may be {' or '.join(found)}; give more of its path")
    if not found:
        raise ValueError(f"no code comes from '{named}'{near(named, [PurePath(name).name for name in names])}")
    return found[0]


def lines_of(build: Build, name: str, *, begun: bool = False) -> _Ranges:
    """Return the code addresses of FILE:LINE or FILE:FIRST-LAST; raise `ValueError` if there is no code.

    *begun*: including the code before them that begins these lines, see `LineMap.begun`.
    """
    match = _LINES.fullmatch(name)
    if match is None:
        raise ValueError(f"'line:{name}': expected FILE:LINE or FILE:FIRST-LAST")
    file = _file(build.lines.files(), match[1])
    first = int(match[2])
    last = int(match[3] or match[2])
    ranges = build.lines.ranges(file, first, last)
    if not ranges:
        which = f"line {first}" if first == last else f"lines {first} to {last}"
        raise ValueError(f"{file}: no code comes from {which}")
    return [*ranges, *build.lines.begun(file, first, last)] if begun else ranges


def _returns_of(build: Build, name: str) -> _Ranges:
    """Return FILE:LINE's code as return addresses of its calls: the one after a call may belong to the next line."""
    return [(low + 1, high + 1) for low, high in lines_of(build, name)]


def _of_region(build: Build, name: str) -> _Ranges:
    found = [region for region in build.regions if is_region(region, name)]
    if not found:
        names = sorted({region.name.removeprefix(f"{region.kind} ") for region in build.regions if region.name})
        raise ValueError(f"no region is called '{name}'{near(name, names)}")
    if len({region.name for region in found}) > 1:
        places = ", ".join(f"#{region.id} at line {region.line}" for region in found[:8])
        raise ValueError(f"'{name}' is several regions ({places}); name one by its number")
    return [(region.id, region.id + 1) for region in found]


def is_region(region: Region, name: str) -> bool:
    """Whether *region* is called *name*: by its name, as FILE:LINE or as #ID."""
    if name.startswith("#"):
        return name[1:] == str(region.id)
    if name in (region.name, region.name.removeprefix(f"{region.kind} ")):
        return True
    match = _LINES.fullmatch(name)
    return match is not None and match[3] is None and same_file(region.file, match[1]) and region.line == int(match[2])


def _of_lock(build: Build, name: str) -> _Ranges:
    if name == "critical":
        return [(_CRITICAL, _CRITICAL + 1)]
    if name == "atomic":
        return [(_ATOMIC, _ATOMIC + 1)]
    if name.startswith("critical:"):
        return _of_data(build, f"{_CRITICAL_PREFIX}{name.removeprefix('critical:')}")
    return _of_data(build, name)


def _of_data(build: Build, name: str) -> _Ranges:
    match = _ADDRESSES.fullmatch(name)
    if match is not None:
        low = int(match[1], 16)
        high = int(match[2], 16) if match[2] else low + 1
        if not low < high < 2**64:
            raise ValueError(f"'{name}': expected a range of addresses, the lower one first")
        return [(low, high)]
    found = build.variables.named(name)
    if not found:
        names = build.variables.all_names()
        raise ValueError(
            f"no variable with a fixed address is called '{name.removeprefix(_CRITICAL_PREFIX)}'{near(name, names)}"
        )
    return found


def _of_heap(build: Build, name: str) -> _Ranges:
    if _LINES.fullmatch(name):
        return lines_of(build, name)
    from scalegraph.link.causes import assigned  # needs numpy, which plain names do not

    texts = {source.file: source.text.splitlines() for source in build.sources}
    places = [(file, n) for file, text in texts.items() for n in range(1, len(text) + 1) if assigned(text, n) == name]
    ranges = [pair for file, number in places for pair in build.lines.ranges(file, number, number)]
    if not ranges:
        raise ValueError(f"no line allocates '{name}'; name the line: heap:FILE:LINE")
    return ranges


_RESOLVE: Final[dict[str, Callable[[Build, str], _Ranges]]] = {
    "line": lines_of,
    "region": _of_region,
    "within": _of_region,
    "lock": _of_lock,
    "held": _of_lock,
    "data": _of_data,
    "heap": _of_heap,
    "cost": _of_region,
    "whole": _of_region,
    "section": _returns_of,
    "call": _returns_of,
}
