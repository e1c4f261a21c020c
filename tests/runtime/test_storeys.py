"""The simulator's C folders form storeys: a file includes and calls only files of its own storey or a lower one."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.library import SOURCES, library
from tests.runtime.test_circles import symbols

# From the bottom up; folders in one line may use each other, all others only those below them.
STOREYS = {
    "ground": [
        ["arch"],
        ["ground"],
    ],
    "kernel": [
        ["network"],
        ["interconnect"],
        ["memory"],
        ["core", "heap", "pipeline"],
    ],
    "services": [
        ["sync"],
        ["schedules"],
        ["openmp"],
        ["ranks", "messages"],
        ["posix"],
        ["mpi"],
        ["fortran"],
        ["observe"],
    ],
    "roof": [
        ["launch"],
        ["start"],
    ],
}
LEVELS = [folders for storey in STOREYS.values() for folders in storey]
HEIGHT = {folder: height for height, folders in enumerate(LEVELS) for folder in folders}
FOLDER = {path.name: path.relative_to(SOURCES).parts[0] for path in SOURCES.rglob("*.[chS]")}


def test_each_folder_is_on_one_level() -> None:
    assert sorted(HEIGHT) == sorted(path.name for path in SOURCES.iterdir() if path.is_dir())
    assert len(HEIGHT) == sum(map(len, LEVELS))


def includes() -> Iterator[tuple[str, str]]:
    """Yield the names of each file of ours and of each header of ours that it includes."""
    for path in sorted(SOURCES.rglob("*.[ch]")):
        for name in re.findall(r'^\s*#\s*include "(\w+\.h)"', path.read_text(), re.MULTILINE):
            if name in FOLDER:
                yield path.name, name


def test_files_include_only_from_their_level_and_lower_ones() -> None:
    found = list(includes())
    assert len(found) > 500
    assert [(own, name) for own, name in found if HEIGHT[FOLDER[name]] > HEIGHT[FOLDER[own]]] == []


def test_the_machine_knows_no_program_and_no_thread() -> None:
    machine = ("memory", "network", "interconnect")
    known = {name for own, name in includes() if FOLDER[own] in machine}
    assert "sg_state.h" not in known
    assert {FOLDER[name] for name in known} == {"ground", *machine}


@pytest.mark.slow
@pytest.mark.compiler
def test_objects_need_only_symbols_of_their_level_and_lower_ones() -> None:
    # The C library's names that the simulator defines, such as malloc, are called as any program calls them.
    made = library(find_compiler())
    defined, needed = symbols(made.archive, made.mpi())
    height = {name.removesuffix(".c"): HEIGHT[folder] for name, folder in FOLDER.items() if name.endswith(".c")}
    assert len(height.keys() & needed.keys()) > 200
    upward = [
        f"{item} needs {name} of {defined[name]}"
        for item, names in sorted(needed.items())
        for name in sorted(names & defined.keys())
        if name.startswith("sg_") and height.get(defined[name], 0) > height.get(item, len(LEVELS))
    ]
    assert upward == []
