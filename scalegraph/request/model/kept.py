"""Facts that a study keeps besides its runs, checked: a file of others may hold anything there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scalegraph.base.errors import InputError, StoreError
from scalegraph.base.models import refusal
from scalegraph.request.model.origin import of_study
from scalegraph.store import Study


def searches_of(study: Study) -> list[dict[str, Any]]:
    """Return how the searches of *study* ended, as JSON. Raises `StoreError` where the file holds something else."""
    reported = study.facts("searches")
    if not reported:
        return []
    from scalegraph.request.model import outcomes  # of pydantic's own classes

    try:
        outcomes.check(reported)
    except refusal() as error:
        first = error.errors()[0]
        place = ".".join(map(str, ("searches", *first["loc"])))
        where = study.path or "study in memory"
        raise StoreError(f"{where}: is damaged: its {place}: {first['msg'].lower()}") from None
    return list(reported)


def readable_request(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the request that a study keeps for views, which read parts of it; empty where it is none."""
    if data.get("program"):
        try:
            of_study(data, "")
        except InputError:
            return {}
        return data
    plain = ("bound", "parameters", "processors", "scaling", "machine", "what_if", "speedups", "schedules")
    return {key: value for key, value in data.items() if key not in plain}
