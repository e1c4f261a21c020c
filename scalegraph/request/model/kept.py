"""Facts that a study keeps besides its runs, validated: a file from others may hold anything there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from scalegraph.base.errors import InputError, StoreError
from scalegraph.base.run import Value
from scalegraph.request.model.origin import of_study
from scalegraph.store import Study

_MOST = 2**53  # of whole numbers: they become table columns


class Outcome(BaseModel):
    """How the search for a size ended, as written by `searches.Searches.outcomes`; other fields are text."""

    model_config = ConfigDict(extra="allow", allow_inf_nan=False, defer_build=True)
    __pydantic_extra__: dict[str, str | float | bool | None]

    bound: str = ""
    value: float | None = None
    processors: int = Field(ge=1, le=_MOST)
    met: bool = False
    parameters: dict[str, Value] | None = None
    sentence: str = ""


_OUTCOMES = TypeAdapter(tuple[Outcome, ...])


def searches_of(study: Study) -> list[dict[str, Any]]:
    """Return how the searches of *study* ended, as JSON. Raises `StoreError` if the file holds anything else."""
    reported = study.facts("searches")
    try:
        _OUTCOMES.validate_python(reported or ())
    except ValidationError as error:
        raise _damaged(study, "searches", error) from None
    return list(reported or ())


def readable_request(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the request that a study keeps, for views that read parts of it; empty if it is invalid."""
    if data.get("program"):
        try:
            of_study(data, "")
        except InputError:
            return {}
        return data
    plain = ("bound", "parameters", "processors", "scaling", "machine", "what_if", "speedups", "schedules")
    return {key: value for key, value in data.items() if key not in plain}


class Chosen(BaseModel):
    """The schedule chosen for a point: *tried_s*: times (s) by schedule, *loops*: what was observed of each."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False, defer_build=True)

    processors: int = Field(ge=1, le=_MOST)
    parameters: dict[str, Value] = {}
    schedule: str = Field(default="", max_length=20000)
    time_s: float | None = None
    written_s: float | None = None
    tried_s: dict[str, float] = {}
    loops: list[dict[str, Any]] = []


AUTOMATIC: Final = "automatic schedules"  # of a study: the choices, by key of the point
_CHOSEN = TypeAdapter(dict[str, Chosen])


def chosen_schedules(study: Study) -> dict[str, Chosen]:
    """Return the schedules chosen for points under automatic schedules, by key. Raises as `searches_of`."""
    try:
        return _CHOSEN.validate_python(study.facts(AUTOMATIC) or {})
    except ValidationError as error:
        raise _damaged(study, AUTOMATIC, error) from None


def _damaged(study: Study, fact: str, error: ValidationError) -> StoreError:
    first = error.errors()[0]
    place = ".".join(map(str, (fact, *first["loc"])))
    return StoreError(f"{study.path or 'study in memory'}: is damaged: its {place}: {first['msg'].lower()}")


def merged_searches(before: list[dict[str, object]], now: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return all outcomes; a newer one replaces an older one for the same bound, value and N."""

    def name(outcome: dict[str, object]) -> tuple[object, ...]:
        return outcome.get("bound"), outcome.get("value"), outcome.get("processors")

    return list({name(outcome): outcome for outcome in [*before, *now]}.values())
