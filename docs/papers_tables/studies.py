"""The studies from which the tables are made, saved in a directory; and helpers for Markdown."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scalegraph.analyze.matrix import Matrix
from scalegraph.base.resources import resource_dir
from scalegraph.base.run import RunRecord
from scalegraph.request import Request, Session


class Studies:
    """Runs requests into studies in *directory*; existing runs of a study are reused."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.session = Session(workers=1)
        self._done: set[Path] = set()

    def shipped(self, name: str, study: str = "", **values: Any) -> Path:
        """Return the path of the study of the shipped request *name*, with *values* replaced."""
        request = self.session.load(resource_dir("requests") / f"{name}.toml")
        kept = request.model_dump(exclude_unset=True) | values
        return self.study(kept, study or name)

    def study(self, values: Mapping[str, Any], name: str) -> Path:
        """Return the path of the study *name*; run the request with *values* first, if necessary."""
        path = self.directory / f"{name}.sgstudy"
        if path not in self._done:
            print(f"# {name}", file=sys.stderr, flush=True)
            self.session.submit(Request.model_validate(values), path, overwrite=False).close()
            self._done.add(path)
        return path

    def runs(self, path: Path) -> list[RunRecord]:
        """Return the runs of the study at *path*."""
        return self.session.open(path).runs()

    def simulated(
        self, name: str, machine: str, processors: Sequence[int], arguments: Sequence[str], **options: Any
    ) -> dict[int, RunRecord]:
        """Return the runs of the shipped source *name*, by N; *options* are those of `Session.simulate`."""
        words = [name, machine, *arguments, *(f"{value}" for value in options.values())]
        path = self.directory / f"{'-'.join(words).replace(' ', '').replace('/', '_')}.sgstudy"
        source = resource_dir("programs") / f"{name}.c"
        if path not in self._done:
            print(f"# {path.stem}", file=sys.stderr, flush=True)
            made = self.session.simulate(
                [source],
                machine=machine,
                processors=processors,
                args=arguments,
                ldflags=("-lm",),
                study_path=path,
                **options,
            )
            made.close()
            self._done.add(path)
        return {run.point.processors: run for run in self.runs(path)}

    def matrix(self, path: Path, bound: str = "efficiency", **options: Any) -> Matrix:
        """Return the latency-metric matrix under *bound*."""
        made = self.session.matrix(path, metric="latency", bound=bound, **options)
        if made is None:
            raise ValueError(f"{path}: no matrix under the bound {bound}")
        return made

    def held(self, path: Path, parameter: str, bound: str = "efficiency") -> dict[int, tuple[float, float]]:
        """Return the two values of *parameter* between which each N meets *bound*; see `sizes`."""
        known = {run.point.key: float(run.point.parameters[parameter]) for run in self.runs(path)}
        return sizes(self.matrix(path, bound), known)


def sizes(made: Matrix, parameters: Mapping[str, float]) -> dict[int, tuple[float, float]]:
    """Return the two sizes between which each N meets the bound; they are equal if a run meets it exactly.

    *parameters* is the size of every run, by key.
    """
    found = {}
    for count, anchor in made.anchors.items():
        values = [parameters[key] for key in anchor.keys if key in parameters]
        if anchor.known and values:
            found[count] = (min(values), max(values))
    return found


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def number(value: float) -> str:
    """Return a whole number with thousands separators."""
    return f"{value:,.0f}"


def between(size: tuple[float, float] | None) -> str:
    """Return *size* as text: one number, or a range; a dash if it is None."""
    if size is None:
        return "–"
    low, high = size
    return number(low) if low == high else f"{number(low)}–{number(high)}"


def ratio(published: float, size: tuple[float, float] | None) -> str:
    """Return a published size divided by the one found here; a dash if there is none."""
    return "–" if size is None else f"{published / (sum(size) / 2):.1f}"
