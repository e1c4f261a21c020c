"""All questions about measurements at once: what the guess of one leaves open is asked with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import Any

from scalegraph.base.errors import InputError
from scalegraph.measurements.guessing import Guess, guess_mapping
from scalegraph.measurements.mapping import SWITCHES, Question
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.table import TableChoices

_ROUNDS = 8  # of guesses, each of which may leave something open
_OTHERS = 4  # answers of a question that are tried
_LARGE = 200_000  # values of a set of which other answers are not tried
_FOLLOWING = {"processors": ("sizes", "scaling"), "time": ("unit", "clock_hz", "scaling", "total")}


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
    return replace(first, questions=_with_others(measured, said, asked)), likely


def _with_others(measured: MeasurementSet, said: Mapping[str, Any], asked: Sequence[Question]) -> tuple[Question, ...]:
    """Return the questions *asked*, each with what another answer than its guess leaves open."""
    if not asked or len(measured.values) > _LARGE:
        return tuple(asked)
    guesses = {one.key: one.guess for one in asked if one.guess}
    known = {one.key for one in asked}
    made = []
    for one in asked:
        further: list[str] = []
        for choice in one.choices[1:_OTHERS]:
            kept = {key: value for key, value in guesses.items() if key not in (one.key, *_FOLLOWING.get(one.key, ()))}
            try:
                other = guess_mapping(measured, {**kept, **said, one.key: choice})
            except InputError:
                continue
            new = [q for q in other.questions if q.key not in known]
            further += [f"--{SWITCHES.get(one.key, one.key)} {quote(choice)} leaves open: {q}" for q in new[:1]]
        made.append(replace(one, switch=f"{one.switch} ({'; '.join(further)})") if further else one)
    return tuple(made)


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
    """Return *questions* without those that the answers of others decide.

    That of sizes where it is about a column whose role is asked, and that of the role of what counts processors.
    """
    counts = [one.guess for one in questions if one.key == "processors"]
    asked = [f"'{one.key.partition('.')[2]}'" for one in questions if one.key.startswith("columns.")]
    left = [one for one in questions if one.key != "sizes" or not any(name in one.message for name in asked)]
    return [one for one in left if one.key not in {f"columns.{name}" for name in counts}]
