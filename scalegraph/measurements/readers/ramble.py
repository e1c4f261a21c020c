"""Results of Ramble, which Benchpark uses to run its benchmarks (``ramble workspace analyze --formats json``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from scalegraph.base.cancel import CancelToken
from scalegraph.measurements.collecting import Coordinate, as_number
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.names import HOSTS, counts_processors, plain
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._benchmarks import Measured, collect_benchmarks
from scalegraph.measurements.readers._files import Checked, read_document
from scalegraph.measurements.settings import Settings, is_about, varied

HOW = "variables of the experiments (n_ranks, n_nodes, problem sizes)"
_PASSED = "SUCCESS"
_NO_CONTEXT = ("", "null", "(null)")
_SUMMARY = "summary::"
_BESIDE = ("application_name", "workload_name", "n_nodes", "n_ranks", "n_threads", "processes_per_node")
_NAMES = frozenset(  # variables that only name or number an experiment
    {"name", "experiment_name", "experiment_namespace", "experiment_index", "experiment_status", "workspace_name"}
    | {"workspace", "repeat_index", "n_repeats", "workload_namespace", "application_namespace", "env_name"}
    | {"simplified_application_namespace", "simplified_workload_namespace", "simplified_experiment_namespace"}
    | {"batch_time", "batch_submit", "batch_nodes", "batch_ranks", "batch_timeout", "execute_experiment"}
)


def _recognises(_path: Path, head: bytes) -> bool:
    text = head.decode("utf-8-sig", "replace").lstrip()
    return text.startswith("{") and '"experiments"' in text and '"RAMBLE_' in text


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    return _together([path], cancel, progress)


def _together(paths: Sequence[Path], cancel: CancelToken, progress: Progress) -> MeasurementSet:
    """Return the set of *paths*: parameters are the differences between any two experiments."""
    passed: list[tuple[str, dict[str, Any], Checked]] = []
    failed = 0
    for number, path in enumerate(paths, 1):
        whole, check = read_document(path, cancel, lambda _share: None)
        for index, entry in enumerate(check.sequence(check.member(whole, "experiments", ""), "experiments")):
            place = f"experiments[{index}]"
            experiment = check.mapping(entry, place)
            if experiment.get("RAMBLE_STATUS") == _PASSED:
                passed.append((place, experiment, check))
            else:
                failed += 1
        progress(number / len(paths))
    settings = [_variables(experiment, place, check) for place, experiment, check in passed]
    places = [f"{check.file}: {place}" for place, _, check in passed]
    names, notes = varied(settings, [name for each in settings for name in each if counts_processors(name)], places)
    measured = [
        made
        for (place, experiment, check), each in zip(passed, settings, strict=True)
        for made in _figures(experiment, {name: each[name] for name in names}, place, check)
    ]
    found = collect_benchmarks(measured, Checked(str(paths[0])), HOW)
    if failed:
        found.skip("experiments", failed, "did not succeed", str(paths[0]))
    files = [str(path) for path in paths]
    return found.finish(
        "ramble", paths[0].stem, files=files, notes=[note for note in notes if "same in all" not in note]
    )


def _variables(experiment: dict[str, Any], place: str, check: Checked) -> Settings:
    """Return the variables and other settings of an experiment, except those that only name it."""
    given = check.mapping(experiment.get("RAMBLE_VARIABLES") or {}, f"{place}.RAMBLE_VARIABLES")
    beside = {name: experiment[name] for name in _BESIDE if name in experiment}
    made: Settings = {}
    for name, value in {**beside, **given}.items():
        if (
            isinstance(value, (bool, dict, list))
            or value is None
            or (is_about(name) and plain(name) not in HOSTS)
            or name in _NAMES
        ):
            continue
        number = as_number(str(value))
        made[name] = str(value) if number is None else number
    return made


def _figures(
    experiment: dict[str, Any], parameters: Mapping[str, Coordinate], place: str, check: Checked
) -> Iterator[Measured]:
    """Yield the numeric figures of merit of each context."""
    for index, entry in enumerate(check.sequence(experiment.get("CONTEXTS") or [], f"{place}.CONTEXTS")):
        where = f"{place}.CONTEXTS[{index}]"
        context = check.mapping(entry, where)
        title = check.text(context.get("display_name") or context.get("name") or "", f"{where}.name")
        made = Measured("program" if title in _NO_CONTEXT else title, where, dict(parameters), {})
        for number, one in enumerate(check.sequence(context.get("foms") or [], f"{where}.foms")):
            figure = check.mapping(one, f"{where}.foms[{number}]")
            name = check.text(check.member(figure, "name", f"{where}.foms[{number}]"), f"{where}.foms[{number}].name")
            if str(figure.get("origin_type") or "").startswith(_SUMMARY):
                continue  # mean, deviation, .. of repeated experiments, which are in the file themselves
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
    together=_together,
)
