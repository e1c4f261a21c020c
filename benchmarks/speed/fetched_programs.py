"""The large third-party programs of `fetched.toml`: fetched with git and built with our compilers."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import reality_runs
import reality_tables

from scalegraph import control
from scalegraph.link import RunOptions
from scalegraph.link.build import Build
from scalegraph.runtime.library import sources_digest

DESCRIBED: Final = Path(__file__).with_name("fetched.toml")
_COMPILERS: Final = {"{cc}": "scalegraph-gcc", "{cxx}": "scalegraph-g++", "{fc}": "scalegraph-gfortran"}


@dataclass(frozen=True)
class Fetched:
    """A program of `fetched.toml`, whose keys these are."""

    name: str
    repository: str
    commit: str
    build: str
    run: tuple[str, ...]
    folder: str = "."
    accept_exit: tuple[int, ...] = ()
    files: dict[str, str] = field(default_factory=dict)

    def options(self) -> RunOptions:
        """Return the options of a run."""
        return RunOptions(accept_exit=self.accept_exit)

    def arguments(self, processors: int) -> tuple[str, ...]:
        """Return the arguments of a run on *processors*."""
        return tuple(word.replace("{N}", str(processors)) for word in self.run[1:])

    def built(self, directory: Path, processors: int) -> tuple[Build, Path]:
        """Return the program built below *directory* for a run on *processors*, and the folder in which it runs.

        Its repository is fetched if it is missing; it is built again when the simulator has changed.
        """
        source = reality_tables.Source(repository=self.repository, commit=self.commit, sources=("*",))
        checkout = reality_runs.fetched(source, directory)
        tree, digest = directory / f"{checkout.name}-built", sources_digest()
        stamp = tree / "simulator-of-this-build"
        if not stamp.exists() or stamp.read_text() != digest:
            shutil.rmtree(tree, ignore_errors=True)
            shutil.copytree(checkout, tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
            command = self.build
            for mark, compiler in _COMPILERS.items():
                command = command.replace(mark, compiler)
            control.run_build(command, tree)
            stamp.write_text(digest)
        folder = tree / self.folder
        for name, text in self.files.items():
            (folder / name).write_text(text.replace("{N}", str(processors)))
        return control.adopt(folder / self.run[0]), folder


def fetched_programs(names: Sequence[str] = ()) -> list[Fetched]:
    """Return the programs called *names*, or all."""
    described = tomllib.loads(DESCRIBED.read_text())["program"]
    lists = ("run", "accept_exit")
    found = [
        Fetched(**{key: tuple(value) if key in lists else value for key, value in one.items()}) for one in described
    ]
    return [one for one in found if not names or one.name in names]
