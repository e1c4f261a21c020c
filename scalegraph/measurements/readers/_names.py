"""Parameters in names of directories and files: ``app.p4.n100.r2`` is p = 4, n = 100, second repetition."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.names import counts_processors

EXPECTED = "expected a name such as app.p4.n100.r1: prefix, parameters with their values, repetition"

_REPETITION = re.compile(r"\.(?:r|rep|run)(\d+)$")
_PAIR = re.compile(r"([A-Za-z_-]+)(\d+(?:[.,]\d+)?)(?:[.,](?=[A-Za-z_])|(?=[A-Za-z_])|$)")


@dataclass(frozen=True)
class RunName:
    """The content of a directory's name."""

    parameters: dict[str, float]
    repetition: int = 0


def parse_names(names: Sequence[str], directory: str) -> list[RunName]:
    """Return the parameters in *names*, which must be the same in the same order.

    The part before the first dot is a prefix unless it differs between names and is a parameter itself. Raises
    `InputError` that names the directory.
    """
    bare = [_REPETITION.sub("", name) for name in names]
    prefixes = {name.partition(".")[0] for name in bare}
    whole = len(prefixes) > 1 and all(_pairs(name) is not None for name in bare)
    found: list[RunName] = []
    for name, rest in zip(names, bare, strict=True):
        pairs = _pairs(rest) if whole else _pairs_after_prefix(rest)
        if pairs is None:
            raise InputError(Fault(f"its name holds no parameters; {EXPECTED}", file=f"{directory}/{name}"))
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            raise InputError(Fault(f"its name holds a parameter twice; {EXPECTED}", file=f"{directory}/{name}"))
        if found and keys != list(found[0].parameters):
            raise InputError(
                Fault(
                    f"its name holds the parameters {', '.join(keys)}; expected {', '.join(found[0].parameters)} "
                    f"as in {names[0]}",
                    file=f"{directory}/{name}",
                )
            )
        number = _REPETITION.search(name)
        found.append(RunName(dict(pairs), int(number[1]) if number else 0))
    return found


def _pairs_after_prefix(name: str) -> list[tuple[str, float]] | None:
    """Drop the shortest prefix, up to a dot, so that only pairs remain."""
    rest = name
    while "." in rest:
        rest = rest.partition(".")[2]
        pairs = _pairs(rest)
        if pairs is not None:
            return pairs
    return _pairs(name)


def _pairs(text: str) -> list[tuple[str, float]] | None:
    pairs: list[tuple[str, float]] = []
    place = 0
    while place < len(text):
        match = _PAIR.match(text, place)
        if match is None:
            return None
        pairs.append((match[1], float(match[2].replace(",", "."))))
        place = match.end()
    return pairs or None


def named_point(path: Path, counted: str, count: int) -> dict[str, float]:
    """Return the parameters of the run at *path*: from its name (``app.p4.n10.r1.txt``), otherwise its directory's.

    If none of them counts processors, *counted* does, with *count* from the file.
    """
    absolute = path.absolute()
    for name in (absolute.name if path.is_dir() else absolute.stem, absolute.parent.name):
        try:
            found = parse_names([name], str(absolute.parent))[0].parameters
        except InputError:
            continue
        if "." in name:
            return found if any(map(counts_processors, found)) else {counted: count, **found}
    return {counted: count}
