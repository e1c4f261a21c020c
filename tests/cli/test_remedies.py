"""Every remedy that an import prints works when it is copied: it makes progress, on many damaged and unclear tables."""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_EVERY = re.compile(r"to take every guess: scalegraph import (.*)")
_SAID = re.compile(r"(?:say|or|by|;) ((?:--[a-z]+ (?:'[^']*'|[^\s,;()']+)(?: (?=--))?)+)")
_ROUNDS = 4  # of remedies of remedies

Call = Callable[..., tuple[int, str, str]]


def _tables() -> Iterator[tuple[str, str]]:
    """Yield names and contents of tables: every form, with every damage."""
    chance = random.Random(49)
    titles = {
        "plain": ["procs", "time [s]"],
        "unit": ["threads", "time"],
        "several": ["ranks", "threads", "n", "time"],
        "unnamed": ["", "run1", "run2"],
        "headless": [],
        "unknown": ["x", "y", "z"],
        "variants": ["procs", "gcc [s]", "clang [s]"],
        "wide": ["n", "1", "2", "4"],
        "rate": ["cores", "score"],
        "wall": ["cores", "elapsed_s", "wall_ms"],
        "remark": ["procs", "kind", "time_s"],
        "holes": ["procs", "", "time_s"],
    }
    damages = ("none", "word", "short", "long", "twice", "negative", "blank", "text", "comma", "many")
    for form, names in titles.items():
        for damage in damages:
            rows = [_row(form, names, at, chance) for at in range(6)]
            width = len(rows[0])
            row, column = rows[chance.randrange(2, 5)], chance.randrange(width)
            if damage == "word":
                row[column] = "crashed"
            elif damage == "short":
                row.pop()
            elif damage == "long":
                row.append("7")
            elif damage == "twice":
                rows.append(list(rows[0]))
            elif damage == "negative":
                row[-1] = f"-{row[-1]}"
            elif damage == "blank":
                row[column] = ""
            elif damage == "text":
                rows.append(["measured in March on the old machine"])
            elif damage == "comma":
                rows = [[f'"{cell.replace(".", ",")}"' for cell in each] for each in rows]
            elif damage == "many":
                rows[1][-1], rows[3][0] = "oops", "none at all"
                rows[4].append("9")
            lines = [",".join(names)] if names else []
            yield f"{form}-{damage}", "\n".join([*lines, *map(",".join, rows)]) + "\n"


def _row(form: str, names: list[str], at: int, chance: random.Random) -> list[str]:
    count = 2 ** (at // 2)
    spent = [f"{10 / count + chance.random():.3f}" for _ in range(4)]
    if form == "several":
        return [str(count), str(1 + at % 2), "1000", spent[0]]
    if form == "wide":
        return [str(1000 * (at + 1)), *(f"{(at + 1) * 10 / p:.2f}" for p in (1, 2, 4))]
    if form == "remark":
        return [str(count), chance.choice("ab"), spent[0]]
    if form == "holes":
        return [str(count), str(chance.randrange(9)), spent[0]]
    if form == "unnamed":
        return [str(2**at), *spent[:2]]
    return [str(count), *spent[: max(1, len(names) - 1)]]


TABLES = dict(_tables())


@pytest.mark.slow
@pytest.mark.few(24)
@pytest.mark.parametrize("name", sorted(TABLES))
def test_every_printed_remedy_makes_progress(tmp_path: Path, call: Call, name: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(TABLES[name])
    _follow(call, path, [], frozenset(), _ROUNDS)


def _follow(call: Call, path: Path, options: list[str], before: frozenset[str], rounds: int) -> None:
    """Import with *options*, check that it does not say the same as *before*, and follow the remedies it prints."""
    target = path.with_name(f"{len(options)}-{abs(hash(tuple(options)))}.sgstudy")
    code, out, err = call("import", path, "-o", target, *options)
    lines = [line for line in err.splitlines() if "to take every guess" not in line]
    said = frozenset(line.removeprefix("scalegraph: ") for line in lines)
    told = f"{options}\n{path.read_text()}\n{out}\n{err}"
    if "none" not in options:
        assert "0 runs" not in err or not options, told
    assert code in (0, 1, 2), told
    if code == 0:
        return
    assert not before or said != before, f"the same again: {told}"
    if not rounds:
        return
    for one in _remedies(err, path, target):
        _follow(call, path, [*options, *one], said, rounds - 1)
    if found := _EVERY.search(err):
        words = [word for word in shlex.split(found[1]) if word not in (str(path), "--output", str(target))]
        _follow(call, path, words, said, rounds - 1)


def _remedies(err: str, path: Path, target: Path) -> Iterator[list[str]]:
    """Yield the options that *err* names with a value, without those that leave an answer out."""
    seen: set[str] = set()
    for line in err.splitlines():
        if "to take every guess" in line:
            continue
        for found in _SAID.finditer(line):
            words = shlex.split(found[1])
            if found[1] in seen or any(word in ("none", "says", "names") for word in words):
                continue
            seen.add(found[1])
            yield words
