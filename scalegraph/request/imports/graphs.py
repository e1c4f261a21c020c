"""Graph files as studies without runs: the thread graph, the places that it names, and their source text, if found."""

from __future__ import annotations

import tomllib
from pathlib import Path, PurePath
from typing import Final

from scalegraph.base.errors import InputError
from scalegraph.base.run import PROGRAM, Region
from scalegraph.base.toml import read_text
from scalegraph.store import Manifest, SourceText, Study

ENDING: Final = ".graph.toml"
FACT: Final = "graph"
_MOST_BYTES: Final = 4 << 20  # of a source


def is_graph(path: Path) -> bool:
    """Whether *path* is a graph file: TOML with classes of threads."""
    if path.suffix != ".toml" or not path.is_file():
        return False
    try:
        return "class" in tomllib.loads(read_text(path))
    except (InputError, tomllib.TOMLDecodeError):
        return path.name.endswith(ENDING)  # reading it reports the fault


def study_of(path: Path) -> Study:
    """Return the graph file at *path* as a study in memory; raise `InputError` with every fault and its place.

    Places (file:line) of its steps become regions. The text of files that they name is read only from the directory of
    the graph file.
    """
    from scalegraph.predict import graph as graphs  # imports models, which other studies do not need

    text = read_text(path)
    graph = graphs.parse(text, str(path))
    lists = [*(one.steps for one in graph.classes), *(part.steps for part in graph.parts)]
    steps = [step for own in lists for step in graph.walk(own)]
    places = list(dict.fromkeys((step.place, step.name) for step in steps if _line(step.place)))
    first = dict(reversed(places))  # the first name of each place
    regions = [
        Region(
            id=number,
            kind="loop",
            name=name,
            file=place.rpartition(":")[0],
            line=_line(place),
            end_line=_line(place),
            parent=PROGRAM.id,
        )
        for number, (place, name) in enumerate(sorted(first.items(), key=_order), 1)
    ]
    files = dict.fromkeys(region.file for region in regions)
    sources = tuple(found for name in files if (found := _source(path.parent, name)) is not None)
    title = graph.title or path.name.removesuffix(ENDING)
    study = Study.memory(
        Manifest.new(title=title, program=title, sources=sources, regions=(PROGRAM, *regions) if regions else ())
    )
    study.set_facts(FACT, text)
    return study


def _line(place: str) -> int:
    number = place.rpartition(":")[2]
    return int(number) if number.isdecimal() else 0


def _order(item: tuple[str, str]) -> tuple[str, int]:
    return item[0].rpartition(":")[0], _line(item[0])


def _source(directory: Path, name: str) -> SourceText | None:
    """Return the text of a file in *directory*; None if it is elsewhere or missing."""
    if PurePath(name).name != name:
        return None
    path = directory / name
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None
        return SourceText.of(name, read_text(path))
    except (OSError, InputError):
        return None
