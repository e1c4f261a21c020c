"""Names as users type them: as printed, with or without their unit, or by the number of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scalegraph.measurements import names
from scalegraph.measurements.model import MeasurementSet

_OF_METRICS = ("time", "rate")


def known(word: str, among: Sequence[str]) -> str:
    """Return the one of *among* that *word* names: itself, or with or without a unit; else *word*."""
    if word in among:
        return word
    short = names.without_unit(word)[0].strip()
    found = [name for name in among if name == short or names.without_unit(name)[0].strip() == short]
    return found[0] if len(found) == 1 else word


def product(word: str, among: Sequence[str]) -> str:
    """Return a product of names (``ranks*threads``), or a single one, in the spelling of *among*."""
    if word in among or known(word, among) in among:
        return known(word, among)
    return "*".join(known(part.strip(), among) for part in word.split("*"))


def spelled(measured: MeasurementSet, said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers *said* with the names of the set in place of what the user typed."""
    metrics = [metric.name for metric in measured.metrics]
    made = dict(said)
    if isinstance(made.get("processors"), str):
        made["processors"] = product(made["processors"], measured.parameters)
    for key in _OF_METRICS:
        if isinstance(made.get(key), str):
            made[key] = known(made[key], metrics)
    if isinstance(made.get("total"), str):
        made["total"] = known(made["total"], measured.paths) if made["total"] not in measured.paths else made["total"]
    if made.get("columns"):
        made["columns"] = {column: known(metric, metrics) for column, metric in made["columns"].items()}
    return made


def by_column(said: Mapping[str, Any], titles: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the answers *said* with columns' names in the set in place of their titles and numbers.

    *titles*: title and name of each column of a table; ``column 3`` is the third.
    """
    taken = {name for _, name in titles}
    names_ = {f"column {number}": name for number, (_, name) in enumerate(titles, 1)}
    names_ |= {title: name for title, name in reversed(titles) if title}
    names_ = {word: name for word, name in names_.items() if word not in taken}

    def name_of(word: str) -> str:
        if word in names_:
            return names_[word]
        return "*".join(names_.get(part.strip(), part) for part in word.split("*")) if "*" in word else word

    made = dict(said)
    for key in ("processors", *_OF_METRICS):
        if isinstance(made.get(key), str):
            made[key] = name_of(made[key])
    if isinstance(made.get("sizes"), str) and made["sizes"] not in taken:
        made["sizes"] = ",".join(name_of(part.strip()) for part in made["sizes"].split(","))
    if made.get("columns"):
        made["columns"] = {column: name_of(metric) for column, metric in made["columns"].items()}
    return made
