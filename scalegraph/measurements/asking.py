"""All questions about measurements at once: what the guess of one leaves open is asked with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scalegraph.base.errors import InputError
from scalegraph.measurements.guessing import Guess, guess_mapping
from scalegraph.measurements.mapping import Question
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.table import TableChoices

_ROUNDS = 8  # of guesses, each of which may leave something open


def complete(measured: MeasurementSet, said: Mapping[str, Any]) -> tuple[Guess, Guess]:
    """Return what `guess_mapping` does with every question, and what comes of it where guesses answer them.

    Raises `InputError` for an answer that the set does not have.
    """
    first = likely = guess_mapping(measured, said)
    asked, answers = list(first.questions), dict(said)
    for _ in range(_ROUNDS):
        new = {one.key: one.guess for one in likely.questions if one.guess and one.key not in answers}
        if not new:
            break
        answers |= new
        try:
            likely = guess_mapping(measured, answers)
        except InputError:  # the guess is none of a whole set: its own question stays
            break
        asked += [one for one in likely.questions if all(one.key != other.key for other in asked)]
    return replace(first, questions=tuple(asked)), likely


def assumed(choices: TableChoices, questions: Sequence[Question]) -> TableChoices | None:
    """Return *choices* with the guesses of *questions* about a table, None where nothing can be guessed of it."""
    columns, fields = dict(choices.columns), {}
    for one in questions:
        part, _, title = one.key.partition(".")
        if part == "columns" and title and one.guess:
            columns[title] = one.guess
        elif one.key in ("across", "decimal") and one.guess:
            fields[one.key] = one.guess
        else:
            return None
    return choices.model_copy(update={**fields, "columns": columns}) if questions else None


def distinct(questions: Sequence[Question]) -> list[Question]:
    """Return *questions* without that of sizes where it is about a column whose role is asked."""
    asked = [f"'{one.key.partition('.')[2]}'" for one in questions if one.key.startswith("columns.")]
    return [one for one in questions if one.key != "sizes" or not any(name in one.message for name in asked)]
