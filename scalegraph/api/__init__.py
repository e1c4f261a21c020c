"""The Python API, for notebooks and scripts: ``import scalegraph as sg; sg.load("times.csv").matrix()``.

Each function calls what the command line and the window use, so that all three give the same results. Nothing is
printed; every deliberate error is a `ScaleGraphError` whose text is a sentence. See docs/API.md.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from scalegraph import views as views_
from scalegraph.api import words
from scalegraph.api.data import Data
from scalegraph.api.picture import PathLike, Picture
from scalegraph.api.traces import Trace, trace
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.table import TableChoices
from scalegraph.request.consent import ConsentNeeded
from scalegraph.request.imports import sets as imports
from scalegraph.request.model.parts import Sampling
from scalegraph.request.results import quantities as quantities_
from scalegraph.request.run.session import Session
from scalegraph.store import Study

__all__ = [
    "Data",
    "Picture",
    "Trace",
    "frame",
    "load",
    "machines",
    "pictures",
    "quantities",
    "run",
    "simulate",
    "trace",
]


def load(
    path: PathLike | Sequence[PathLike],
    *,
    format: str | None = None,  # noqa: A002 - what it is
    processors: str | None = None,
    time: str | None = None,
    rate: str | None = None,
    unit: str | None = None,
    total: str | None = None,
    scaling: Literal["strong", "weak"] | None = None,
    clock_hz: float | None = None,
    values: Literal["inclusive", "exclusive"] | None = None,
    summed: bool | None = None,
    table: Mapping[str, Any] | TableChoices | None = None,
) -> Data:
    """Return a study, measurements in any format, or a directory of them; several files become one set.

    The import mapping is guessed where that is safe and must be given elsewhere: *processors* names the parameter that
    counts them and *time* the metric in *unit* (with *clock_hz* in Hz for cycles) at the call path *total*, or
    *rate* one that counts work a second: larger is better; *summed*: times are sums over the processors; *values* say
    whether call paths hold those below. *table* are fields of `TableChoices`, for tables.
    Raises `Unanswered`, `InputError` or `StoreError` with file, place and reason.

    Example:
        >>> data = sg.load("times.csv", processors="p", time="time", unit="s")

    """
    given = [path] if isinstance(path, str | os.PathLike) else list(path)
    paths = [Path(one).expanduser() for one in given]
    missing = [Fault("no such file", file=str(one)) for one in paths if not one.exists()]
    if missing or not paths:
        raise InputError(missing or "a file or directory was expected, got none")
    said = _said(
        processors=processors,
        time=time,
        rate=rate,
        unit=unit,
        total=total,
        scaling=scaling,
        clock_hz=clock_hz,
        extent=values,
        summed=summed,
    )
    with words.keywords():
        study = imports.opened(paths, name=format or "", choices=words.choices(table), said=said)
    return Data(study, paths[0].stem)


def frame(
    table: pd.DataFrame,
    *,
    processors: str | None = None,
    time: str | None = None,
    rate: str | None = None,
    unit: str | None = None,
    total: str | None = None,
    scaling: Literal["strong", "weak"] | None = None,
    clock_hz: float | None = None,
    values: Literal["inclusive", "exclusive"] | None = None,
    summed: bool | None = None,
    columns: Mapping[str, str] | None = None,
    across: str | None = None,
    name: str = "frame",
) -> Data:
    """Return the measurements in *table*, one row per point (and repetition), as `load` returns those of a file.

    A named index counts as columns; time spans become seconds. *columns* says what a column is: parameter, metric,
    region, metric_name, value, unit, repetition, wide or skip; *across* what the columns of a wide table stand for; the
    rest as in `load`. Raises `Unanswered`, `InputError`.

    Example:
        >>> times = pd.DataFrame({"p": [1, 2, 4, 8], "t": [8.0, 4.2, 2.3, 1.4]})
        >>> data = sg.frame(times, processors="p", time="t", unit="s")

    """
    processors, time, rate = (None if title is None else title.strip() for title in (processors, time, rate))
    there = {str(title).strip() for title in (*table.columns, *table.index.names) if title is not None}
    reported = {
        title: role
        for title, role in ((processors, "parameter"), (time, "metric"), (rate, "metric"))
        if title is not None and title in there
    }
    with words.keywords(in_memory=True):
        measured, titles = imports.set_of(table, name, {**reported, **(columns or {})}, across or "")
        said = _said(
            processors=titles.get(processors or "", processors),
            time=titles.get(time or "", time),
            rate=titles.get(rate or "", rate),
            unit=unit,
            total=total,
            scaling=scaling,
            clock_hz=clock_hz,
            extent=values,
            summed=summed,
        )
        guess = imports.answered(measured, said)
        return Data(imports.study_of(guess.measured, guess.mapping), name)


def simulate(
    sources: PathLike | Sequence[PathLike] = (),
    machine: str = "",
    processors: Sequence[int] = (1, 2, 4),
    args: Sequence[object] = (),
    *,
    overrides: Mapping[str, str] | None = None,
    cflags: Sequence[str] = (),
    ldflags: Sequence[str] = (),
    include: Sequence[PathLike] = (),
    schedule: str = "",
    env: Mapping[str, str] | None = None,
    stdin: PathLike = "",
    cwd: PathLike = "",
    executable: PathLike = "",
    build: str = "",
    sample: Sampling = "automatic",
    study: PathLike | None = None,
    workers: int | None = None,
    traced: bool | Mapping[str, Any] = False,
    traces: PathLike | None = None,
) -> Data:
    """Run *sources* (or a shipped program by name) with *args* on a simulated *machine* for each of *processors*.

    *machine* is one of `machines` or a file (without it server-2x32, for shipped programs ksr1); *overrides* change its
    values. The one-processor run is always made. *executable* and *build* take the place of sources. *sample*: repeated
    phases are sampled once a run has been long (``automatic``), from its beginning (``always``), or ``never``. Runs are
    kept in the file *study*, in memory without it; *workers* run side by side, one for each core if None. With
    *traced* each run of *processors* writes a trace (`Data.traces`) into the directory *traces*, or beside *study*; a
    mapping says what the table ``[trace]`` of a request can say (``what``, ``begin``, ``end``, ``region``, ..).
    `Data.notes` lists runs that failed or were sampled. Raises `InputError`, `BuildError`, `StoreError`, `MissingTool`.

    Example:
        >>> data = sg.simulate("prog.c", "server-2x32", processors=(1, 2, 4), args=[100])

    """
    given = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    path = None if study is None else Path(study)
    with words.requests():
        made = Session(workers=workers).simulate(
            [os.fspath(one) for one in given],
            machine=machine,
            overrides=overrides,
            processors=tuple(processors),
            args=[str(word) for word in args],
            cflags=cflags,
            ldflags=ldflags,
            include=[os.fspath(one) for one in include],
            schedule=schedule,
            env=env,
            stdin=os.fspath(stdin),
            cwd=os.fspath(cwd),
            executable=os.fspath(executable),
            build=build,
            sample=sample,
            study_path=path,
            trace=words.trace(traced, processors),
            traces=None if traces is None else os.fspath(traces),
        )
    return _kept(made, path, made.manifest.program)


def run(
    request: PathLike,
    study: PathLike | None = None,
    *,
    workers: int | None = None,
    traces: PathLike | None = None,
    trust: bool = False,
) -> Data:
    """Carry out a request file and return its study, saved in the file *study* (by default only in memory).

    Runs that the file has are not made again. Traces that the request requests go into the directory *traces*, or
    beside *study*. *trust*: run code in it that was not written here (a build command, an executable, options that
    load something); without it such a file raises `InputError` and nothing is run. Raises as `simulate`.

    Example:
        >>> data = sg.run("request.toml", study="request.sgstudy")

    """
    session = Session(workers=workers)
    path = None if study is None else Path(study)
    place = None if traces is None else Path(traces)
    asked = session.load(Path(request))
    consent = session.consent(asked)
    if consent is not None and not trust:
        raise ConsentNeeded(consent, "trust=True runs it")
    return _kept(session.submit(asked, path, traces=place, consent=consent), path, Path(request).stem)


def machines() -> pd.DataFrame:
    """Return the shipped machines: title and maximum processors, by name.

    Example:
        >>> names = list(sg.machines().index)

    """
    rows = [asdict(one) for one in Session().machines()]
    return pd.DataFrame(rows).set_index("name")[["title", "processors_max", "path"]]


def pictures() -> pd.DataFrame:
    """Return the views accepted by `Data.view`: title, group, description, family, options and requirements, by name.

    Views of a family show the same data; the option ``show_as`` of each chooses another one.

    Example:
        >>> options = sg.pictures().loc["matrix", "options"]

    """
    rows = [
        {
            "name": view.name,
            "title": view.title,
            "group": view.group,
            "description": view.description,
            "family": view.family.title if view.family else "",
            "options": ", ".join(option.name for option in view.all_options),
            "needs": " ".join(view.conditions),
        }
        for view in views_.registry().values()
    ]
    return pd.DataFrame(rows).set_index("name")


def quantities() -> pd.DataFrame:
    """Return the quantities accepted by `Data.quantity`: their descriptions, by name.

    Example:
        >>> names = list(sg.quantities().index)

    """
    rows = [{"name": one.name, "description": one.description} for one in quantities_.QUANTITIES.values()]
    return pd.DataFrame(rows).set_index("name")


def _kept(study: Study, path: Path | None, name: str) -> Data:
    """Return the data of a new study; one on disk is opened for viewing, so that others may write it."""
    if path is None:
        return Data(study, name)
    study.close()
    return Data(Study.open(path))


def _said(**answers: Any) -> dict[str, Any]:
    return {key: value for key, value in answers.items() if value is not None}
