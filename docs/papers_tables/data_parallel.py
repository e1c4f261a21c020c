"""Errors and ratios of predictions of data-parallel programs on the CM-5 (semi-empirical paper, Tables V and VI)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from papers_tables.predictions import LIMIT_S, SAMPLE, Printed, Sizes, cells, heads, numbers
from papers_tables.studies import Studies, markdown
from scalegraph.base.resources import resource_dir
from scalegraph.predict import measures
from scalegraph.request import Request
from scalegraph.request.run.predicting import Predictions, Wanted
from scalegraph.request.run.predicting_blocks import load_blocks, predict_blocks

# machine, N, vector units (as in the paper's table)
GAUSS: Final = (("cm5", 32, 0), ("cm5", 64, 0), ("cm5", 128, 0), ("cm5-vector", 128, 1))
# none of the sizes with which the method was developed; the paper does not give its range
GAUSS_SIZES: Final = (120, 260, 400, 540, 680, 900, 1200)
GAUSS_SAMPLES: Final = ((64, 160), (24, 48))
SCATTERING: Final = (32, 64, 128)
SCATTERING_SIZES: Final = (128, 256)
FEW: Final = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Case:
    """Runs of a data-parallel program: *samples* on each N of *sampled* predict *targets* on each of *processors*."""

    name: str
    machine: str
    sampled: tuple[int, ...]
    processors: tuple[int, ...]
    samples: Sizes
    targets: Sizes


def predicted(studies: Studies, case: Case) -> Predictions:
    """Return the predictions of *case* and the simulated results at the same points."""
    request = Request.model_validate(
        {
            "program": {"name": case.name},
            "machine": {"name": case.machine},
            "processors": list(case.processors),
            "limits": {"time_s": LIMIT_S},
        }
    )
    wanted = Wanted(
        tuple(case.samples), tuple(case.targets), case.sampled, case.processors, verify=True, reference=False
    )
    path = studies.directory / f"predict-{case.name}-{case.machine}-{case.processors[-1]}.sgstudy"
    return predict_blocks(studies.session, request, load_blocks(case.name), wanted, path)


def gauss_case(machine: str, processors: int, samples: Sequence[int] = GAUSS_SAMPLES[0]) -> Case:
    """Return the runs of a row of Table V; additional samples on one processor show the cost of leaving the cache."""
    return Case("ge-dp", machine, (1, processors), (processors,), numbers(samples), numbers(GAUSS_SIZES))


def scattering_case(sampled: Sequence[int] = (*FEW, *SCATTERING[1:]), sizes: Sequence[int] = SCATTERING_SIZES) -> Case:
    """Return the runs of Table VI: I = J = 10 and M = N of *sizes*."""
    targets = [{"i": 10, "j": 10, "m": size, "n": size} for size in sizes]
    return Case("em", "cm5", tuple(sampled), SCATTERING, [SAMPLE], targets)


def gauss(studies: Studies) -> list[str]:
    """Return errors and ratios of Gauss elimination beside Table V."""
    table = pd.read_csv(resource_dir("published") / "semi-empirical-table-5.csv", comment="#")
    table = table.set_index(["processors", "vector"])
    rows = []
    for machine, processors, vector in GAUSS:
        paper = table.loc[processors, vector]
        printed = Printed(*(float(paper[name]) for name in table.columns))
        for samples in GAUSS_SAMPLES:
            found = predicted(studies, gauss_case(machine, processors, samples)).points
            mode = f"{processors} (vector)" if vector else str(processors)
            rows.append([mode, ", ".join(map(str, samples)), *cells(found), *printed.cells, printed.held(found)])
    return markdown(["N", *heads()], rows)


def scattering(studies: Studies) -> list[str]:
    """Return errors of electromagnetic scattering beside Table VI."""
    paper = pd.read_csv(resource_dir("published") / "semi-empirical-table-6.csv", comment="#").set_index("m")
    rows = []
    for case in (scattering_case(), scattering_case(FEW)):
        every = predicted(studies, case).points
        for size in SCATTERING_SIZES:
            points = [point for point in every if point.values["m"] == size]
            mean = measures.mean_error([point.error for point in points if point.error is not None])
            each = (f"{point.error:.2%}" for point in points if point.error is not None)
            sampled = ", ".join(map(str, case.sampled))
            rows.append([f"{size}", sampled, *each, f"{mean:.2%}", f"{paper.loc[size, 'average error']:g} %"])
    columns = (f"error, N = {n}" for n in SCATTERING)
    return markdown(["M, N", "N of the samples", *columns, "mean", "paper"], rows)
