"""Errors and ratios of predictions from small runs (semi-empirical paper, 4.2; Tables II to IV)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from papers_tables.studies import Studies, markdown
from scalegraph.base.resources import resource_dir
from scalegraph.predict import measures
from scalegraph.request import Request
from scalegraph.request.run.predicting import Point, Predictions, Wanted, predict_program

Sizes = Sequence[Mapping[str, int]]


def spread(low: int, high: int, points: int) -> tuple[int, ...]:
    """Return *points* evenly spread sizes from *low* to *high*, as the paper requires."""
    return tuple(round(low + (high - low) * i / (points - 1)) for i in range(points))


# N -> the paper's samples, smaller samples, sizes to predict (the paper's ranges)
GAUSS: Final = {
    1: ((170, 410), (48, 96), spread(50, 800, 6)),
    2: ((210, 370), (48, 96), spread(50, 1000, 6)),
    8: ((240, 400), (48, 96), spread(100, 2000, 6)),
    16: ((160, 320), (48, 96), spread(100, 1600, 6)),
    24: ((120, 480), (48, 96), spread(100, 2400, 6)),
    48: ((192, 240), (48, 96), spread(100, 2400, 6)),
}
# the paper does not give the ranges; these end where n^3 gives the paper's largest ratio
PATHS: Final = {
    2: ((100, 200), (24, 48), spread(50, 1000, 6)),
    8: ((96, 160), (24, 48), spread(50, 700, 6)),
    16: ((160, 400), (24, 48), spread(100, 1600, 5)),
    24: ((240, 480), (24, 48), spread(100, 1500, 6)),
    48: ((192, 240), (24, 48), spread(50, 650, 6)),
}
FEW: Final = (2, (16, 32))  # N and sizes of samples that start only one thread
SCATTERING: Final = (10, 20, 60)
SAMPLE: Final = {"i": 5, "j": 5, "m": 20, "n": 20}
POINTS: Final = [
    point
    for pulses in (5, 10)
    for size in spread(20, 256, 5)
    if (point := {"i": pulses, "j": pulses, "m": size, "n": size}) != SAMPLE
]


def predicted(
    studies: Studies,
    name: str,
    processors: int,
    samples: Sizes,
    targets: Sizes,
    *,
    levels: bool = False,
    sampled: int = 0,
    counting: bool = True,
) -> Predictions:
    """Return predictions for *targets*, and the simulated results at the same points.

    *levels*: run the largest sample again on smaller caches, which the paper does not do. *sampled*: the N of the
    samples, if it is not *processors*. *counting*: make further small runs for exact counts.
    """
    request = Request.model_validate(
        {
            "program": {"name": name},
            "machine": {"name": "ksr1"},
            "processors": [processors],
            "limits": {"time_s": LIMIT_S},
        }
    )
    wanted = Wanted(
        tuple(samples),
        tuple(targets),
        (sampled or processors,),
        (processors,),
        counting=counting,
        verify=True,
        reference=False,
        levels=levels,
    )
    path = studies.directory / f"predict-{name}-{processors}.sgstudy"
    return predict_program(studies.session, request, wanted, path)


def numbers(sizes: Sequence[int]) -> Sizes:
    """Return *sizes* as values of the parameter n."""
    return [{"n": size} for size in sizes]


LIMIT_S: Final = 7200.0  # time limit of a run; long, because the computer may have other work
TIMES: Final = 10.0  # goal: this many times the paper's ratio


@dataclass(frozen=True)
class Printed:
    """A row of the paper: average error (%), average and largest prediction ratio."""

    error: float
    ratio: float
    largest: float

    @property
    def cells(self) -> list[str]:
        """The numbers as table cells."""
        return [f"{self.error:g} %", f"{self.ratio:g}", f"{self.largest:g}"]

    def held(self, points: Sequence[Point]) -> str:
        """Return the times (simulated, host) by which *points* reach ten times the paper's ratios, or why none does.

        The error must be at most the paper's.
        """
        errors = [point.error for point in points if point.error is not None]
        if 100 * measures.mean_error(errors) > self.error:
            return "no: error"
        kinds = {"simulated": _ratios(points), "host": _host_ratios(points)}
        held = [
            name for name, own in kinds.items() if _mean(own) >= TIMES * self.ratio and max(own) >= TIMES * self.largest
        ]
        return ", ".join(held) or "no: ratio"


def _ratios(points: Sequence[Point]) -> list[float]:
    return [point.prediction_ratio for point in points if point.prediction_ratio is not None]


def _host_ratios(points: Sequence[Point]) -> list[float]:
    return [point.prediction_ratio_host for point in points if point.prediction_ratio_host is not None]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def cells(points: Sequence[Point]) -> list[str]:
    """Return the average and largest error, the coverage, and the average and largest ratio of both times."""
    errors = [point.error for point in points if point.error is not None]
    held = sum(
        found.low_s <= (point.actual_s or 0.0) <= found.high_s
        for point in points
        if (found := point.predicted) is not None
    )
    return [
        f"{measures.mean_error(errors):.2%}",
        f"{max(errors):.2%}",
        f"{held} of {len(points)}",
        *(f"{value:.1f}" for own in (_ratios(points), _host_ratios(points)) for value in (_mean(own), max(own))),
    ]


def _paper(table: int, processors: int) -> Printed:
    path = resource_dir("published") / f"semi-empirical-table-{table}.csv"
    row = pd.read_csv(path, comment="#").set_index("processors").loc[processors]
    return Printed(row["average error"], row["average prediction ratio"], row["largest prediction ratio"])


def heads() -> list[str]:
    """Return the titles of all columns but the first."""
    own = ["samples", "error, here", "largest", "in the interval", "ratio, here", "largest"]
    return [*own, "ratio of host times", "largest", "error, paper", "ratio, paper", "largest", "both"]


def _by_size(
    studies: Studies,
    name: str,
    table: int,
    points: Mapping[int, tuple[Sequence[int], Sequence[int], Sequence[int]]],
    few: tuple[int, Sequence[int]] | None = None,
) -> list[str]:
    rows = []
    for processors, (sampled, smaller, sizes) in points.items():
        paper = _paper(table, processors)
        for samples, levels in ((sampled, False), (sampled, True), (smaller, False), (smaller, True)):
            found = predicted(studies, name, processors, numbers(samples), numbers(sizes), levels=levels).points
            said = ", ".join(map(str, samples)) + ("; smaller caches" if levels else "")
            rows.append([str(processors), said, *cells(found), *paper.cells, paper.held(found)])
        if few is not None and few[0] < processors:
            for levels in (False, True):
                found = predicted(
                    studies,
                    name,
                    processors,
                    numbers(few[1]),
                    numbers(sizes),
                    levels=levels,
                    sampled=few[0],
                    counting=False,
                ).points
                said = f"{', '.join(map(str, few[1]))} on {few[0]}" + ("; smaller caches" if levels else "")
                rows.append([str(processors), said, *cells(found), *paper.cells, paper.held(found)])
    return markdown(["N", *heads()], rows)


def gauss(studies: Studies) -> list[str]:
    """Return errors and ratios of Gauss elimination beside Table II."""
    return _by_size(studies, "ge1", 2, GAUSS)


def paths(studies: Studies) -> list[str]:
    """Return errors and ratios of all-pairs shortest paths beside Table III."""
    return _by_size(studies, "apsp1", 3, PATHS, FEW)


def scattering(studies: Studies) -> list[str]:
    """Return errors and ratios of electromagnetic scattering beside Table IV."""
    rows = []
    for processors in SCATTERING:
        paper = _paper(4, processors)
        for sampled in (processors, FEW[0]):
            found = predicted(studies, "em-shared", processors, [SAMPLE], POINTS, sampled=sampled).points
            said = "I = J = 5, M = N = 20" + (f" on {sampled}" if sampled < processors else "")
            rows.append([str(processors), said, *cells(found), *paper.cells, paper.held(found)])
    return markdown(["N", *heads()], rows)
