"""A study of several machines, splits, schedules and so on, on standard output: a document or table for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scalegraph.base.points import setting_words
from scalegraph.base.run import RunRecord
from scalegraph.cli.output import echo
from scalegraph.link.loops import AUTOMATIC
from scalegraph.request.model.request import Request
from scalegraph.request.model.space import members
from scalegraph.request.run import automatic
from scalegraph.request.run.joining import choice_of, member_of
from scalegraph.request.run.spaces import SEARCH
from scalegraph.store import Study


def chosen_parts(kept: Study, request: Request) -> tuple[list[Study], list[str]]:
    """Return *kept* restricted to each choice of *request*, and the choices that were left out."""
    if not request.space.varies:
        return [choice_of(kept, request)], []
    every = members(request)
    parts = [member_of(kept, member.setting) for member in every if member.request is not None]
    there = [part for part in parts if part is not None and len(part)]  # a search may have left a choice out
    return there or [kept], [text for member in every for text in member.left_out]


def beside_machine(choice: Mapping[str, str]) -> str:
    """Return a description of *choice* other than its machine, possibly empty."""
    return setting_words({name: value for name, value in choice.items() if name != "machine"})


def with_choice(document: dict[str, Any], part: Study) -> dict[str, Any]:
    """Return *document* of runs with the schedule of each: null if loops are as written.

    For automatic schedules, it is the chosen one, and the document says how it was chosen.
    """
    schedule = part.choice.get("schedule") or part.manifest.request.get("schedule") or None
    runs = (*document.get("runs", ()), *document.get("what_if", ()))
    if schedule != AUTOMATIC:
        for run in runs:
            run["schedule"] = run["schedule"] or schedule
        return document
    found = automatic.shown(part, [record.point for record in part.runs()])
    chosen = {(one.processors, str(sorted(one.parameters.items()))): one.schedule for one in found}
    for run in runs:
        key = (run["processors"], str(sorted(run.get("parameters", {}).items())))
        own = None if run["schedule"] == AUTOMATIC else run["schedule"]
        run |= {"schedule": own or chosen.get(key) or None, "automatic": own is None}
    return document | {"automatic": [one.model_dump(mode="json") for one in found]} if document else document


def print_schedules(part: Study, records: Sequence[RunRecord]) -> None:
    """Print the schedules chosen for the runs *records*, if any were to be chosen."""
    found = automatic.shown(part, [record.point for record in records])
    if found:
        echo("Automatic schedules:")
    for one in found:
        echo(f"  {automatic.sentence(one)}")


def together(documents: Sequence[dict[str, Any]], left_out: Sequence[str] = ()) -> dict[str, Any]:
    """Return the documents of several choices combined: their runs one after the other."""
    made = dict(documents[0])
    for name in ("runs", "what_if", "automatic", "verified", "searches", "remarks", "notes", "outliers"):
        if any(name in document for document in documents):
            made[name] = [item for document in documents for item in document.get(name, ())]
    names = list(dict.fromkeys(str(document["machine"]) for document in documents))
    return made | {"machine": ",".join(names), "machines": names, "left_out": list(left_out)}


def search_document(kept: Study) -> dict[str, Any]:
    """Return what a search under a bound left out, as JSON; empty if all points were run."""
    found = kept.facts(SEARCH)
    return {"search": found} if isinstance(found, dict) else {}
