"""Results of Ramble, with which Benchpark runs its benchmarks (``ramble workspace analyze --formats json``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scalegraph.base.cancel import CancelToken
from scalegraph.measurements.collecting import Coordinate, as_number
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.names import counts_processors
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._benchmarks import Measured, collect_benchmarks
from scalegraph.measurements.readers._files import Checked, read_document

HOW = "variables of the experiments (n_ranks, n_nodes, problem sizes)"
_PASSED = "SUCCESS"
_NO_CONTEXT = ("", "null", "(null)")


def _recognises(_path: Path, head: bytes) -> bool:
    text = head.decode("utf-8-sig", "replace").lstrip()
    return text.startswith("{") and '"experiments"' in text and '"RAMBLE_' in text


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    whole, check = read_document(path, cancel, progress)
    passed: list[tuple[str, dict[str, Any]]] = []
    failed = 0
    for index, entry in enumerate(check.sequence(check.member(whole, "experiments", ""), "experiments")):
        place = f"experiments[{index}]"
        experiment = check.mapping(entry, place)
        if experiment.get("RAMBLE_STATUS") == _PASSED:
            passed.append((place, experiment))
        else:
            failed += 1
    variables = _varied([_numbers(experiment, place, check) for place, experiment in passed])
    measured = [
        made
        for (place, experiment), parameters in zip(passed, variables, strict=True)
        for made in _figures(experiment, parameters, place, check)
    ]
    found = collect_benchmarks(measured, check, HOW)
    if failed:
        found.skip("experiments", failed, "did not succeed", str(path))
    return found.finish("ramble", path.stem)


def _numbers(experiment: dict[str, Any], place: str, check: Checked) -> dict[str, Coordinate]:
    """Return the variables of an experiment that are numbers."""
    given = check.mapping(experiment.get("RAMBLE_VARIABLES") or {}, f"{place}.RAMBLE_VARIABLES")
    return {
        name: number
        for name, value in given.items()
        if not isinstance(value, (bool, dict, list)) and (number := as_number(str(value))) is not None
    }


def _varied(variables: Sequence[dict[str, Coordinate]]) -> list[dict[str, Coordinate]]:
    """Return of each experiment the variables that differ between experiments, and those that count processors."""
    names = dict.fromkeys(name for each in variables for name in each)
    chosen = [
        name
        for name in names
        if all(name in each for each in variables)
        and (counts_processors(name) or len({each[name] for each in variables}) > 1)
    ]
    return [{name: each[name] for name in chosen} for each in variables]


def _figures(
    experiment: dict[str, Any], parameters: dict[str, Coordinate], place: str, check: Checked
) -> Iterator[Measured]:
    """Yield the figures of merit of each context; text among them is left out."""
    for index, entry in enumerate(check.sequence(experiment.get("CONTEXTS") or [], f"{place}.CONTEXTS")):
        where = f"{place}.CONTEXTS[{index}]"
        context = check.mapping(entry, where)
        title = check.text(context.get("display_name") or context.get("name") or "", f"{where}.name")
        made = Measured("program" if title in _NO_CONTEXT else title, where, parameters, {})
        for number, one in enumerate(check.sequence(context.get("foms") or [], f"{where}.foms")):
            figure = check.mapping(one, f"{where}.foms[{number}]")
            name = check.text(check.member(figure, "name", f"{where}.foms[{number}]"), f"{where}.foms[{number}].name")
            value = as_number(str(figure.get("value")))
            if value is not None:
                made.values.setdefault(name, []).append(value)
                made.units[name] = str(figure.get("units") or "")
        if made.values:
            yield made


READER = Reader(
    "ramble",
    "Ramble results, as of Benchpark",
    (".json",),
    recognises=_recognises,
    read=_read,
    order=42,
    looks='"experiments" with RAMBLE_STATUS and CONTEXTS',
)
