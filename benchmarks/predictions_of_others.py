"""Third-party programs predicted from small runs, beside Extra-P on the same runs.

    python benchmarks/predictions_of_others.py DESCRIPTION.toml --studies DIRECTORY [--extrap PYTHON] [--only TEXT]

Prints the table of docs/VALIDATION_TABLES.md. You write DESCRIPTION.toml. It has ``processors`` (a list) and tables
``[[program]]`` with ``name``; ``executable``, linked by ``scalegraph-gcc`` or another wrapper; ``arguments``, in which
{n} is the size and {N} the number of processors (default: ["{n}"]); ``machine`` (default: server-2x32); ``samples``,
the sizes to run; ``target``, the size to predict, which is also run for comparison. Choose the sizes before you measure
anything. Runs are saved as studies in DIRECTORY; existing results are reused.

PYTHON is the interpreter of an environment with Extra-P 4. Extra-P gets the times of the same samples, without those on
smaller caches, which are of another machine. It fits two models with its defaults: one over the size for each N, and
one over size and N.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCALEGRAPH = Path(sys.executable).parent / "scalegraph"
# reads [{names, rows: [[coordinates, seconds], ..], at}, ..]; writes [seconds at ``at`` (null: no model), formula], ..
EXTRAP = """
import json, sys, warnings
from extrap.entities.callpath import Callpath
from extrap.entities.coordinate import Coordinate
from extrap.entities.experiment import Experiment
from extrap.entities.measurement import Measurement
from extrap.entities.metric import Metric
from extrap.entities.parameter import Parameter
from extrap.modelers.model_generator import ModelGenerator

warnings.simplefilter("ignore")


def predicted(names, rows, at):
    experiment, metric, path = Experiment(), Metric("time"), Callpath("program")
    for name in names:
        experiment.add_parameter(Parameter(name))
    experiment.add_metric(metric)
    experiment.add_callpath(path)
    for place, seconds in rows:
        coordinate = Coordinate(*place)
        experiment.add_coordinate(coordinate)
        experiment.add_measurement(Measurement(coordinate, path, metric, [seconds]))
    generator = ModelGenerator(experiment)
    generator.model_all()
    function = generator.models[path, metric].hypothesis.function
    return float(function.evaluate(at if len(at) > 1 else at[0])), function.to_string()


found = []
for asked in json.load(sys.stdin):
    try:
        found.append(predicted(**asked))
    except Exception as error:
        found.append([None, repr(error)])
print(json.dumps(found))
"""


@dataclass
class Row:
    """One predicted point: times in s, and signed relative errors."""

    program: str
    processors: int
    actual_s: float
    predicted_s: float
    low_s: float
    high_s: float
    alone: float | None = None  # Extra-P, size only
    both: float | None = None  # Extra-P, size and N

    @property
    def error(self) -> float:
        """Signed relative error."""
        return self.predicted_s / self.actual_s - 1

    @property
    def covered(self) -> bool:
        """Whether the interval covers the actual time."""
        return self.low_s <= self.actual_s <= self.high_s


def predict(program: dict[str, Any], processors: list[int], study: Path) -> dict[str, Any]:
    """Return the JSON document of the prediction of *program*; its runs are saved in *study*."""
    sizes = ",".join(map(str, program["samples"]))
    command = [str(SCALEGRAPH), "predict", program["executable"], "-m", program.get("machine", "server-2x32")]
    command += ["-p", ",".join(map(str, processors)), "--samples", f"n={sizes}", "--at", f"n={program['target']}"]
    command += ["--verify", "--json", "-o", str(study), "--", *program.get("arguments", ["{n}"])]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode not in (0, 1):
        raise SystemExit(f"{program['name']}: {ended.stderr.strip().splitlines()[-1]}")
    document: dict[str, Any] = json.loads(ended.stdout)
    return document


def modelled(python: str, document: dict[str, Any], target: int) -> dict[int, tuple[float | None, float | None]]:
    """Return Extra-P's predictions in s for each N from the samples of *document*: over size, and over size and N."""
    rows = [
        ([run["parameters"]["n"], run["processors"]], run["time_s"]) for run in document["samples"] if run["time_s"]
    ]
    counts = [point["processors"] for point in document["predictions"]]
    asked = [
        {"names": ["n"], "rows": [([at[0]], time) for at, time in rows if at[1] == n], "at": [target]} for n in counts
    ]
    asked += [{"names": ["n", "p"], "rows": rows, "at": [target, n]} for n in counts]
    ended = subprocess.run([python, "-c", EXTRAP], input=json.dumps(asked), capture_output=True, text=True, check=True)
    found = json.loads(ended.stdout.splitlines()[-1])
    for question, (seconds, formula) in zip(asked, found, strict=True):
        print(f"Extra-P of {question['names']} at {question['at']}: {seconds}: {formula}", file=sys.stderr)
    times = [seconds for seconds, _ in found]
    return {n: (times[i], times[len(counts) + i]) for i, n in enumerate(counts)}


def measured(program: dict[str, Any], given: argparse.Namespace, processors: list[int]) -> list[Row]:
    """Return the rows of *program*."""
    study = given.studies / f"{program['name'].lower().replace(' ', '-')}.sgstudy"
    document = predict(program, processors, study)
    for note in document["notes"]:
        print(f"{program['name']}: {note}", file=sys.stderr)
    others = modelled(given.extrap, document, program["target"]) if given.extrap else {}
    rows = []
    for point in document["predictions"]:
        if point["time_s"] is None or point["actual_s"] is None:
            print(f"{program['name']} on {point['processors']}: {point['refused'] or 'not run'}", file=sys.stderr)
            continue
        row = Row(
            program["name"], point["processors"], point["actual_s"], point["time_s"], point["low_s"], point["high_s"]
        )
        both = [None if time is None else time / row.actual_s - 1 for time in others.get(row.processors, (None, None))]
        row.alone, row.both = both
        rows.append(row)
    return rows


def number(seconds: float) -> str:
    """Return *seconds* as milliseconds with three significant digits."""
    return f"{float(f'{seconds * 1e3:.3g}'):g}"


def percent(value: float | None) -> str:
    """Return a signed relative error as text."""
    return "–" if value is None else f"{100 * value:+.1f} %"


def table(programs: list[dict[str, Any]], rows: list[Row], processors: list[int]) -> list[str]:
    """Return the table, followed by the median errors."""
    text = [
        "| program, sizes | N | T run | predicted | from | to | covers | error | Extra-P, n | Extra-P, n and N |",
        "| --- " * 10 + "|",
    ]
    for program in programs:
        sizes = f"{', '.join(map(str, program['samples']))} → {program['target']}"
        for n in processors:
            one = next((row for row in rows if (row.program, row.processors) == (program["name"], n)), None)
            head = f"{program['name']}: {sizes}" if n == processors[0] else ""
            if one is None:
                text.append(f"| {head} | {n} | – | not predicted | | | | | | |")
                continue
            times = (number(time) for time in (one.actual_s, one.predicted_s, one.low_s, one.high_s))
            errors = (percent(error) for error in (one.error, one.alone, one.both))
            covers = "yes" if one.covered else "no"
            text.append(f"| {head} | {n} | {' | '.join(times)} | {covers} | {' | '.join(errors)} |")
    said: dict[str, list[float]] = {
        "ScaleGraph": [one.error for one in rows],
        "Extra-P, n": [one.alone for one in rows if one.alone is not None],
        "Extra-P, n and N": [one.both for one in rows if one.both is not None],
    }
    text.append("")
    for name, own in said.items():
        sizes_of = [abs(error) for error in own]
        if sizes_of:
            middle, most = 100 * statistics.median(sizes_of), 100 * max(sizes_of)
            near = sum(error <= 0.1 for error in sizes_of)
            text.append(
                f"- {name}: median error {middle:.1f} %, largest {most:.1f} %, {near} of {len(rows)} within 10 %"
            )
    text.append(f"- {sum(one.covered for one in rows)} of {len(rows)} runs are inside their intervals")
    return text


def main() -> None:
    """Predict the programs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("description", type=Path)
    parser.add_argument("--studies", type=Path, required=True, help="directory for the saved runs")
    parser.add_argument("--extrap", default="", metavar="PYTHON", help="Python interpreter with Extra-P 4")
    parser.add_argument("--only", default="", metavar="TEXT", help="only programs whose name contains this")
    given = parser.parse_args()
    described = tomllib.loads(given.description.read_text())
    programs = [one for one in described["program"] if given.only in one["name"]]
    given.studies.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    for program in programs:
        rows += measured(program, given, described["processors"])
    print("\n".join(table(programs, rows, described["processors"])))


if __name__ == "__main__":
    main()
