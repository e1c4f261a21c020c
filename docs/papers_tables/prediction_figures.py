"""Pictures of predicted and simulated times (semi-empirical paper, Figures 5 to 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from papers_tables import data_parallel, predictions
from papers_tables.studies import Studies
from scalegraph.figures.figure import Axis, Figure, Line, Plot
from scalegraph.predict.predicting import Predictor
from scalegraph.predict.regions import Values
from scalegraph.request.model.request import MachineChoice
from scalegraph.request.run.predicting import Point, measured_events

SIZE_CM: Final = {1: (16.0, 9.0), 2: (24.0, 10.0)}  # by number of plots
FIELD: Final = {"i": 10, "j": 10, "m": 138, "n": 138}  # in Figure 10
FIELDS: Final = (64, 128, 256)


def pictures(studies: Studies, folder: Path) -> None:
    """Write Figures 5 to 10 into *folder*."""
    for name, made in FIGURES.items():
        plots = made(studies)
        studies.session.write(Figure("", "", plots), folder / f"{name}.png", size_cm=SIZE_CM[len(plots)])


def _size(point: Point) -> float:
    return float(point.values["n"])


def curves(points: Sequence[Point], name: str, series: int, along: Callable[[Point], float] = _size) -> list[Line]:
    """Return the curves of the simulated and the predicted times at *points*, over the abscissa *along*.

    The predicted curve is dashed, has the colour of the simulated one, and has no name.
    """
    known = sorted((point for point in points if point.predicted is not None and point.actual_s), key=along)
    x = tuple(along(point) for point in known)
    actual = tuple(point.actual_s or 0.0 for point in known)
    predicted = tuple(point.predicted.time_s for point in known if point.predicted is not None)
    role = f"series:{series}"
    return [
        Line(name, x, actual, role),
        Line("", x, predicted, role, "predicted", style="dashed", markers=False),
    ]


def _plot(lines: Sequence[Line], label: str) -> Plot:
    return Plot(Axis(label), Axis("time", "s", "log10"), tuple(lines))


def _by_size(
    studies: Studies,
    name: str,
    points: Mapping[int, tuple[Sequence[int], Sequence[int], Sequence[int]]],
    chosen: Sequence[int],
    label: str,
) -> Plot:
    lines: list[Line] = []
    for series, processors in enumerate(chosen):
        samples, _, sizes = points[processors]
        numbers = predictions.numbers
        found = predictions.predicted(studies, name, processors, numbers(samples), numbers(sizes)).points
        lines += curves(found, f"N = {processors}", series)
    return _plot(lines, label)


def gauss(studies: Studies) -> tuple[Plot, ...]:
    """Return Figure 5: Gauss elimination on the KSR-1."""
    return tuple(
        _by_size(studies, "ge1", predictions.GAUSS, chosen, "unknowns") for chosen in ((1, 8, 24), (2, 16, 48))
    )


def paths(studies: Studies) -> tuple[Plot, ...]:
    """Return Figure 6: all-pairs shortest paths on the KSR-1."""
    return (_by_size(studies, "apsp1", predictions.PATHS, tuple(predictions.PATHS), "nodes"),)


def scattering(studies: Studies) -> tuple[Plot, ...]:
    """Return Figure 7: electromagnetic scattering on the KSR-1, for 5 and for 10 pulses in each slot."""
    every = {n: _field_points(studies, n) for n in predictions.SCATTERING}
    plots = []
    for pulses in (5, 10):
        lines: list[Line] = []
        for series, (processors, found) in enumerate(every.items()):
            own = [point for point in found if point.values["i"] == pulses]
            lines += curves(own, f"N = {processors}", series)
        plots.append(_plot(lines, f"M = N for I = J = {pulses}"))
    return tuple(plots)


def _field_points(studies: Studies, processors: int) -> list[Point]:
    return predictions.predicted(studies, "em-shared", processors, [predictions.SAMPLE], predictions.POINTS).points


def data_parallel_gauss(studies: Studies) -> tuple[Plot, ...]:
    """Return Figure 8: data-parallel Gauss elimination on the CM-5."""
    lines: list[Line] = []
    for series, (machine, processors, vector) in enumerate(data_parallel.GAUSS):
        found = data_parallel.predicted(studies, data_parallel.gauss_case(machine, processors)).points
        lines += curves(found, f"N = {processors}{' (vector)' if vector else ''}", series)
    return (_plot(lines, "unknowns"),)


def data_parallel_scattering(studies: Studies) -> tuple[Plot, ...]:
    """Return Figure 9: electromagnetic scattering on the CM-5, over N."""
    every = data_parallel.predicted(studies, data_parallel.scattering_case(sizes=FIELDS)).points
    lines: list[Line] = []
    for series, size in enumerate(FIELDS):
        own = [point for point in every if point.values["m"] == size]
        lines += curves(own, f"M = N = {size}", series, lambda point: float(point.processors))
    processors = Axis("processors", "", "log2", ticks=tuple(map(float, data_parallel.SCATTERING)))
    return (Plot(processors, Axis("time", "s", "log10"), tuple(lines)),)


def borrowed(predictor: Predictor, sampled: int, values: Values, processors: Sequence[int]) -> list[float]:
    """Return predicted times on *processors*, with samples and event costs from N = *sampled* alone."""
    costs = dict.fromkeys((sampled, *processors), predictor.costs[sampled])
    own = [run for run in predictor.runs if run.point.processors == sampled]
    alone = Predictor(own, predictor.regions, costs, [values])
    return [alone.at(values, n).time_s for n in processors]


def other_processors(studies: Studies) -> tuple[Plot, ...]:
    """Return Figure 10: scattering on the KSR-1 predicted from samples on other N.

    The first plot uses only data measured on the samples' N, as in the paper; the second uses event costs measured on
    the predicted N.
    """
    counts = predictions.SCATTERING
    costs = measured_events(studies.session, MachineChoice(name="ksr1"), counts)
    actual: list[float] = []
    ways: dict[int, list[list[float]]] = {}
    for sampled in counts:
        found = predictions.predicted(studies, "em-shared", sampled, [predictions.SAMPLE], predictions.POINTS)
        actual += [point.actual_s or 0.0 for point in found.points if point.values == FIELD]
        predictor = found.predictor
        if predictor is None:
            raise ValueError(f"no samples on N = {sampled}")
        there = Predictor(predictor.runs, predictor.regions, costs, [FIELD])
        ways[sampled] = [borrowed(predictor, sampled, FIELD, counts), [there.at(FIELD, n).time_s for n in counts]]
    x = tuple(map(float, counts))
    plots = []
    for way, title in enumerate(("events of the samples' N", "events of the predicted N")):
        lines = [Line("simulated", x, tuple(actual), "series:0")]
        for series, sampled in enumerate(counts):
            name, times = f"samples on N = {sampled}", tuple(ways[sampled][way])
            lines.append(Line(name, x, times, f"series:{series + 1}", "predicted", style="dashed"))
        axis = Axis(f"processors ({title})", "", "log2", ticks=x)
        plots.append(Plot(axis, Axis("time", "s", "log10"), tuple(lines)))
    return tuple(plots)


FIGURES: Final[dict[str, Callable[[Studies], tuple[Plot, ...]]]] = {
    "predicted-gauss": gauss,
    "predicted-paths": paths,
    "predicted-scattering": scattering,
    "predicted-data-parallel": data_parallel_gauss,
    "predicted-fields": data_parallel_scattering,
    "predicted-other-processors": other_processors,
}
