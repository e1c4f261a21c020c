"""Speed and accuracy of performance modelling beside Extra-P, on the same data in one run.

    python benchmarks/models.py --extrap-python /path/of/venv/bin/python

Extra-P needs an older numpy than ScaleGraph, so it needs its own environment
(``python -m venv DIR; DIR/bin/pip install extrap==4.2.5``). Without it, only ScaleGraph is timed; a message says so.

The data is 1,000 series over one parameter (5 points, 5 repetitions), generated from known models with relative noise.
Only the modelling is timed, without reading, writing and start-up: the processor time of the fastest round. ScaleGraph
is timed with everything that it computes: rivals, bootstrap intervals and cross-validated errors.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from scalegraph.analyze.fits import fit_models

POINTS = (4.0, 8.0, 16.0, 32.0, 64.0)
# (exponent of N, exponent of log2 N) of the growing term; None is a constant
TRUTHS = (None, (0.0, 1), (0.5, 0), (1.0, 0), (1.0, 1), (1.5, 0), (2.0, 0), (2.0, 1), (3.0, 0))
ROUNDS = 3

# Runs under Extra-P's Python: reads points and values, fits models, writes time, exponents and predictions.
_EXTRAP = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from extrap.entities.callpath import Callpath
from extrap.entities.coordinate import Coordinate
from extrap.entities.experiment import Experiment
from extrap.entities.measurement import Measurement
from extrap.entities.metric import Metric
from extrap.entities.parameter import Parameter
from extrap.modelers.model_generator import ModelGenerator
from extrap.modelers.single_parameter.basic import SingleParameterModeler

with open(sys.argv[1]) as file:
    data = json.load(file)
best = float("inf")
for _ in range(data["rounds"]):
    experiment = Experiment()
    experiment.add_parameter(Parameter("p"))
    metric = Metric("time")
    experiment.add_metric(metric)
    coordinates = [Coordinate(p) for p in data["points"]]
    for coordinate in coordinates:
        experiment.add_coordinate(coordinate)
    for number, series in enumerate(data["values"]):
        path = Callpath(f"path{number}")
        experiment.add_callpath(path)
        for coordinate, values in zip(coordinates, series):
            experiment.add_measurement(Measurement(coordinate, path, metric, values))
    generator = ModelGenerator(experiment, modeler=SingleParameterModeler())
    start = time.process_time()
    generator.model_all()
    best = min(best, time.process_time() - start)
answers, predictions = [], []
for model in generator.models.values():
    function = model.hypothesis.function
    terms = [[float(t.exponent), t.term_type] for term in function.compound_terms for t in term.simple_terms]
    answers.append(terms)
    predictions.append(float(function.evaluate(data["far"])))
import extrap
with open(sys.argv[2], "w") as file:
    json.dump({"seconds": best, "terms": answers, "far": predictions, "version": extrap.__version__}, file)
"""


def series(count: int, noise: float, seed: int = 1) -> tuple[np.ndarray, list[tuple[float, int] | None]]:
    """Return the values, shape (count, points, 5 repetitions), and the true term of each series."""
    random = np.random.default_rng(seed)
    points = np.array(POINTS)
    truths = [TRUTHS[i % len(TRUTHS)] for i in range(count)]
    values = np.empty((count, len(points), 5))
    for index, truth in enumerate(truths):
        constant, factor = random.uniform(0.5, 5.0), random.uniform(0.05, 1.0)
        grows = 0.0 * points if truth is None else factor * points ** truth[0] * np.log2(points) ** truth[1]
        values[index] = (constant + grows)[:, None] * (1 + noise * random.standard_normal((len(points), 5)))
    return np.abs(values), truths


def ours(values: np.ndarray) -> tuple[float, list[tuple[float, int] | None], np.ndarray, np.ndarray]:
    """Return seconds, the terms found, predictions at four times the largest point, and whether the data decides."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        models = fit_models(POINTS, values, falling=False)
        best = min(best, time.process_time() - start)
    found: list[tuple[float, int] | None] = []
    for index in range(len(models)):
        hypothesis = models.space[int(models.which[index, 0])]
        factor = hypothesis[0][0][1] if hypothesis else None
        found.append(None if factor is None else (float(factor.power), factor.log))
    return best, found, models.predict([4 * POINTS[-1]])[:, 0], models.decided


def extrap(python: str, values: np.ndarray) -> dict[str, object]:
    """Return Extra-P's results for the same values: seconds, terms, predictions."""
    with tempfile.TemporaryDirectory() as folder:
        given, answer, script = (Path(folder) / name for name in ("in.json", "out.json", "run.py"))
        script.write_text(_EXTRAP)
        data = {"points": POINTS, "values": values.tolist(), "far": 4 * POINTS[-1], "rounds": ROUNDS}
        given.write_text(json.dumps(data))
        subprocess.run([python, str(script), str(given), str(answer)], check=True)
        made: dict[str, object] = json.loads(answer.read_text())
    return made


def _term(parts: list[list[object]]) -> tuple[float, int] | None:
    power, log = 0.0, 0
    for exponent, kind in parts:
        if kind == "logarithm":
            log = int(float(str(exponent)))
        else:
            power = float(str(exponent))
    return (power, log) if parts else None


def _right_of_differing(
    first: list[tuple[float, int] | None],
    second: list[tuple[float, int] | None],
    truths: list[tuple[float, int] | None],
    decided: np.ndarray,
) -> int:
    """Count the series where *first* is right, among those where the two differ and the data decides."""
    together = zip(first, second, truths, decided, strict=True)
    return int(sum(a == truth for a, b, truth, sure in together if sure and a != b))


def compared(count: int, noise: float, python: str | None) -> dict[str, object]:
    """Return one row: times, share of right models, and agreement where the data decides."""
    values, truths = series(count, noise)
    seconds, found, far, decided = ours(values)
    row: dict[str, object] = {
        "series": count,
        "noise_percent": 100 * noise,
        "scalegraph_s": round(seconds, 3),
        "scalegraph_right": round(float(np.mean([a == b for a, b in zip(found, truths, strict=True)])), 3),
        "decided": round(float(decided.mean()), 3),
    }
    if python is None:
        return row
    other = extrap(python, values)
    terms = [_term(parts) for parts in other["terms"]]  # type: ignore[attr-defined]
    there = np.array(other["far"], dtype=float)
    near = np.abs(far - there) <= 0.1 * np.maximum(np.abs(far), np.abs(there))
    row |= {
        "extrap": other["version"],
        "extrap_s": round(float(str(other["seconds"])), 3),
        "times_as_fast": round(float(str(other["seconds"])) / seconds, 1),
        "extrap_right": round(float(np.mean([a == b for a, b in zip(terms, truths, strict=True)])), 3),
        "same_terms_where_decided": round(
            float(np.mean([a == b for a, b, d in zip(found, terms, decided, strict=True) if d])), 3
        ),
        "differ_where_decided": int(sum(a != b for a, b, d in zip(found, terms, decided, strict=True) if d)),
        "of_these_scalegraph_right": _right_of_differing(found, terms, truths, decided),
        "of_these_extrap_right": _right_of_differing(terms, found, truths, decided),
        "within_10_percent_at_4x_where_decided": round(float(near[decided].mean()), 3),
    }
    return row


def main() -> None:
    """Print one JSON line for each level of noise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extrap-python", help="Python interpreter of an environment with Extra-P")
    parser.add_argument("--series", type=int, default=1000)
    parser.add_argument("--noise", type=float, nargs="*", default=[0.0, 0.02, 0.05, 0.1], help="relative noise levels")
    given = parser.parse_args()
    if given.extrap_python is None:
        print("Extra-P is not timed: give --extrap-python to time it.", file=sys.stderr)
    for noise in given.noise:
        print(json.dumps(compared(given.series, noise, given.extrap_python)), flush=True)


if __name__ == "__main__":
    main()
