"""A study in scripts: its quantities, matrices, laws, models, sentences and pictures."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pandas as pd

from scalegraph import views as views_
from scalegraph.analyze.advise import Advice, Cost
from scalegraph.analyze.bounds import BOUNDS, Bound
from scalegraph.analyze.choosing.choice import Wishes
from scalegraph.analyze.choosing.point import OBJECTIVES, Objective
from scalegraph.analyze.fits import Fit
from scalegraph.analyze.matrix import Matrix, Metric
from scalegraph.analyze.regionmodels import RegionModels
from scalegraph.api import notebook, words
from scalegraph.api.opened import Opened
from scalegraph.api.picture import PathLike, Picture
from scalegraph.base.errors import Fault, InputError, WorkError
from scalegraph.base.units import counted
from scalegraph.measurements.model import MeasurementSet
from scalegraph.request.imports import sets as imports
from scalegraph.request.model import tracing
from scalegraph.request.results import assertions, report, selecting
from scalegraph.request.results import data as data_
from scalegraph.request.results import quantities as quantities_
from scalegraph.request.results.assertions import Outcome
from scalegraph.request.run import advising
from scalegraph.request.run.session import Session
from scalegraph.store import Study
from scalegraph.store.study import SUFFIX
from scalegraph.subjects import choosing, fitted_models, judgement, matrices, matrix_ways
from scalegraph.subjects.option import OptionValue, checked
from scalegraph.views import common, ways
from scalegraph.views.study.models import modelling

Way: TypeAlias = Literal["runs", "measured", "computed", "predicted", "best", "log2", "theorem1", "theorem2"]


class Data(Opened):
    """A study in memory or on disk, and everything that can be computed from it; returned by `load` and others.

    Data already read does not change. Can be used in a ``with``, which closes the study's file at the end.
    """

    def __init__(self, study: Study, name: str = "", *, part_of: Data | None = None) -> None:
        """*part_of*: the data that has the study's file open, if this is one choice of it."""
        self._study = study
        self._part_of = part_of  # keeps it alive as long as this
        self._finalizer = weakref.finalize(self, study.close if part_of is None else _nothing)
        found = data_.study_data(study)
        self._data = replace(found, name=name or found.name)

    @property
    def name(self) -> str:
        """Short name: of the file, the program or the table."""
        return self._data.name

    @property
    def runs(self) -> pd.DataFrame:
        """The run table: one row per run (``processors``, ``time_s`` in s, ``param.*``, ..); a copy.

        Example:
            >>> slowest = data.runs["time_s"].max()

        """
        return self._data.table.copy()

    @property
    def scaling(self) -> pd.DataFrame:
        """One row for each problem and N: ``speedup``, ``efficiency``, ``latency_s`` (s per processor), ..; a copy.

        Example:
            >>> table = data.scaling[["processors", "speedup", "efficiency"]]

        """
        return self._data.scaling.copy()

    @property
    def measured(self) -> MeasurementSet | None:
        """Values of every metric by call path and point: measurements as read, or the regions of simulated runs.

        Example:
            >>> paths = data.measured.paths

        """
        return self._data.measured

    @property
    def notes(self) -> list[str]:
        """Notes on the data: what is estimated, remarks of files, what was guessed and skipped, failed runs.

        Example:
            >>> remarks = data.notes

        """
        measured = self._study.measurements()
        said = [words.plain(note) for note in imports.notes(self._study)]
        skipped = [] if measured is None else [f"skipped: {one}" for one in measured.skipped]
        estimated = [self._data.estimated()] if self._data.estimated() else []
        return [*estimated, *said, *skipped, *common.run_notes(self._data), *tracing.lost(self._study)]

    @property
    def traces(self) -> pd.DataFrame:
        """The runs with traces: processors and path (for `trace`), by the key of the run's point.

        Example:
            >>> paths = list(data.traces["path"])

        """
        rows = [(run.key, run.processors, str(run.path)) for run in tracing.traces(self._study)]
        return pd.DataFrame(rows, columns=["key", "processors", "path"]).set_index("key")

    @property
    def choices(self) -> pd.DataFrame:
        """What the study varies besides N and sizes, one row per choice: machine, threads_per_process, schedule, ..

        Example:
            >>> several = sg.run("several.toml")
            >>> machines = list(several.choices["machine"])

        """
        parts = self._data.choices or (self._data,)
        return pd.DataFrame([dict(part.manifest.get("setting") or {}) for part in parts])

    def select(self, **axes: str | int) -> Data:
        """Return the choice with these values of *axes* (machine, threads_per_process, schedule, affinity, cflags).

        Curves, matrices and losses belong to one choice; if several match, the first is returned. The result is closed
        with this. Raises `InputError` for an unknown axis or value.

        Example:
            >>> several = sg.run("several.toml")
            >>> curve = several.select(machine="epyc-7763").scaling

        """
        wanted = selecting.parse([f"{axis}={value}" for axis, value in axes.items()])
        with words.keywords():
            part, _said = selecting.selected(self._study, wanted)
        return Data(part, self.name, part_of=self)

    def choose(
        self,
        minimise: Objective = "time",
        *,
        within: float | None = None,
        efficiency: float | None = None,
        whole_nodes: bool = False,
    ) -> dict[str, Any]:
        """Return the best point of all choices: ``choice``, ``frontier``, ``sentence``, .. as in ``choose --json``.

        *minimise*: ``time``, ``core_hours``, ``energy``, ``price`` or ``processors``; *within*: at most this multiple
        of the fastest time; *efficiency*: at least this. Raises `InputError` if no point is allowed.

        Example:
            >>> several = sg.run("several.toml")
            >>> point = several.choose("core_hours", within=1.2)["choice"]

        """
        if minimise not in OBJECTIVES:
            raise InputError(Fault(f"'{minimise}': expected one of {', '.join(OBJECTIVES)}", key="minimise"))
        wishes = Wishes(minimise, within, efficiency, whole_nodes)
        return choosing.answer(self._data, wishes).document()

    def matrix(
        self,
        metric: Metric = "latency",
        bound: Bound = "efficiency",
        *,
        efficiency: float | None = None,
        time: float | None = None,
        memory: float | None = None,
        speed: float | None = None,
        way: Way = "runs",
        latency: Literal["accounting", "method1"] = "accounting",
        processors: Sequence[int] | None = None,
        **more: OptionValue,
    ) -> Matrix:
        """Return the scalability between every two processor counts with *bound* held constant; 1 is ideal.

        *metric*: ``latency`` (eq. 4 of scale-graph.txt), ``isospeed`` (holds the speed) or ``isoefficiency``. What is
        held: *efficiency* (0 to 1), *time* (s), *memory* (B a processor) or *speed* (op/s a processor), whichever
        *bound* names; else that of the request or a usual one. *way*: ``runs``, ``measured``, ``computed``,
        ``predicted`` by models, ``best`` (predicted where runs give nothing), or, of psi, ``log2``, ``theorem1`` and
        ``theorem2``, which take *more*: ``up_to``, ``overhead``, ``alpha``, ``beta``; *processors* without runs can
        only be predicted. Raises `InputError` for a wrong option, `WorkError` saying why there is no matrix.

        Example:
            >>> table = data.matrix("isoefficiency", efficiency=0.5, way="best").frame()

        """
        given: dict[str, OptionValue] = {"efficiency": efficiency, "time": time, "memory": memory, "speed": speed}
        held = data_.bound_of(metric, bound)
        with words.keywords():
            target = words.target_of(held, given)
            options: dict[str, Any] = {
                "metric": matrices.METRIC.parse(metric),
                "way": matrices.WAY.parse(way),
                "latency": matrices.LATENCY.parse(latency),
                "processors": None if processors is None else sorted({int(n) for n in processors}),
                **checked(matrix_ways.OPTIONS, more, "a matrix"),
            }
            made = data_.matrix(self._data, next(one for one in BOUNDS if one == held), target=target, **options)
        if made is None:
            raise WorkError(f"{self.name}: no matrix: {words.plain(data_.why_no_matrix(self._data, held))}")
        return made

    def quantity(self, name: str, processors: int | None = None) -> pd.DataFrame:
        """Return any quantity of `quantities`, with units in the column names; empty if there is none.

        *processors* selects the runs on that many. Raises `InputError` for an unknown name.

        Example:
            >>> table = data.quantity("karp-flatt")

        """
        with words.keywords():
            return quantities_.compute(self._data, name, processors).copy()

    def laws(self) -> list[Fit]:
        """Return the laws of speedup fitted to the times over N (s), best first: `Fit.predict`, `Fit.band`, `.doubt`.

        Raises `WorkError` if there are no times to fit.

        Example:
            >>> best = data.laws()[0]
            >>> seconds = best.predict([128])[0]

        """
        found = fitted_models.laws(self._data)
        if found is None:
            raise WorkError(f"{self.name}: no laws: {modelling.NEED.sentence(runs=ways.can_run(self._data))}")
        return list(found[1])

    def models(self, metric: str | None = None) -> RegionModels:
        """Return performance models of every call path for *metric* (by default its time): ``.names`` and ``.models``.

        ``quantity("models")`` returns the same as a table. Raises `InputError` for an unknown metric, `WorkError` if no
        parameter has enough values.

        Example:
            >>> found = data.models()
            >>> formulas = {name: found.models.formula(i) for i, name in enumerate(found.names)}

        """
        with words.keywords():
            found = fitted_models.regions(self._data, metric)
        if found is None:
            raise WorkError(f"{self.name}: no models: values of call paths at three or more points are needed")
        return found[0]

    def verdicts(self) -> list[str]:
        """Return verdicts in sentences: strong and weak scaling, and where the loss is; none without runs.

        Example:
            >>> text = " ".join(data.verdicts())

        """
        return [] if self._data.table.empty else [item.text for item in judgement.said(self._data)]

    def advise(self, at: int | None = None, size: float | None = None, cost: Cost = "elapsed") -> list[Advice]:
        """Return what to run next, best first: runs that narrow the predicted time most for their cost.

        *at* (processors) and *size* are the point to be predicted, by default twice the most processors and the largest
        size; *cost* is ``elapsed`` (s), ``processor`` (s times N) or ``host`` (s of this computer). Raises `InputError`
        for a wrong option, `WorkError` if there are too few points for a law.

        Example:
            >>> advice = data.advise(at=256)

        """
        with words.keywords():
            views_.get("advise").check({"at": at, "size": size, "cost": cost})
            return advising.advised(self._data, at, size, cost)[2]

    def predict(self, at: Sequence[Mapping[str, int]], processors: Sequence[int] = ()) -> pd.DataFrame:
        """Return the predicted time of larger runs, from these runs of a simulated program at several small sizes.

        *at*: the parameters of each run; *processors*: those of the runs if empty. One row a point: ``time_s`` with
        its interval ``low_s`` to ``high_s`` (s), ``efficiency``, ``latency_s``, ``ratio`` (conservative prediction
        ratio), and ``error`` and ``ratio_host`` (of host times) where the point was run; ``refused`` says why a point
        has no time. Source: semi-empirical-prediction.txt. Raises `InputError`.

        Example:
            >>> small = sg.run("sizes.toml")
            >>> table = small.predict([{"n": 200}], processors=[4])

        """
        from scalegraph.request.run.predicting import predict_study

        if not at:
            raise InputError("at: parameters of at least one run were expected, as in [{'n': 2000}]")
        found = predict_study(Session(), self._study, [dict(one) for one in at], processors=processors, name=self.name)
        rows = [
            {
                "processors": point.processors,
                **{f"param.{name}": value for name, value in point.values.items()},
                "time_s": made.time_s if (made := point.predicted) else None,
                "low_s": made.low_s if made else None,
                "high_s": made.high_s if made else None,
                "efficiency": point.efficiency,
                "latency_s": point.latency_s,
                "error": point.error,
                "ratio": point.prediction_ratio,
                "ratio_host": point.prediction_ratio_host,
                "refused": point.refused,
            }
            for point in found.points
        ]
        return pd.DataFrame(rows)

    def view(self, name: str, **options: OptionValue) -> Picture:
        """Return the view *name* of `pictures` with its options. Raises `InputError` for an unknown name or option.

        Example:
            >>> picture = data.view("matrix", efficiency=0.5)

        """
        return Picture(views_.get(name).build(self._data, **options))

    def compare(self, *others: Data, view: str = "compare", **options: OptionValue) -> Picture:
        """Return this study beside *others*: curves (``compare``) or matrices subtracted (``compare-matrix``).

        Example:
            >>> picture = data.compare(other, quantity="efficiency")

        """
        if not others:
            raise InputError(Fault("two or more studies were expected, got 1", file=self.name))
        with words.keywords():
            data_.check_several(view)
        together = replace(self._data, others=tuple(other._data for other in others))
        return Picture(views_.get(view).build(together, **options))

    def check(self, *statements: str) -> list[Outcome]:
        """Return the results of *statements* such as ``E(64) > 0.7``: ``passed`` (None: undecided) and why (``said``).

        Raises `InputError` for an invalid statement; see docs/REPORTS.md for the syntax.

        Example:
            >>> held = all(outcome.passed for outcome in data.check("E(4) > 0.5", "T(8) < T(1)"))

        """
        with words.keywords():
            return assertions.check(self._data, statements)

    def report(
        self,
        path: PathLike,
        views: Sequence[str] = (),
        *,
        title: str = "",
        author: str = "",
        machine: str = "",
        note: str = "",
    ) -> None:
        """Write everything, or *views*, as a self-contained HTML file, or as PDF by the extension of *path*.

        *title*, *author*, *machine* (where the study does not say) and *note* stand on its first page. Raises
        `InputError` for another ending or an unknown view, `WorkError` if it cannot be written.

        Example:
            >>> data.report("study.html", views=["speedup", "laws"])

        """
        target = Path(path)
        said = report.About(title, author, machine, note)
        report.write(self._data, target, views, about=said)

    def save(self, path: PathLike) -> None:
        """Write a study (.sgstudy), which command line and window can open; an existing file is replaced.

        Example:
            >>> data.save("kept.sgstudy")

        """
        target = Path(path)
        if target.suffix.lower() != SUFFIX:
            raise InputError(Fault(f"a study is kept in a file with the ending {SUFFIX}", file=str(target)))
        self._study.save_as(target)

    def close(self) -> None:
        """Close the study's file; data already read stays available."""
        self._finalizer()

    @cached_property
    def _picture(self) -> Picture | None:
        return notebook.picture_of_study(self._data)

    def _repr_html_(self) -> str:
        """Show the verdicts, numbers and picture of the study."""
        return notebook.study(self._data, self._picture)

    def __repr__(self) -> str:
        table = self._data.table
        counts = "" if table.empty else f" on {table['processors'].min()} to {table['processors'].max()} processors"
        return f"<Data '{self.name}': {counted(len(table), 'run')}{counts}>"


def _nothing() -> None:
    """Close nothing: the file belongs to another object."""
