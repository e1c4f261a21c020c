"""All questions about measurements at once, including those that depend on the answers to others."""

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

_ROUNDS = 8  # of guesses, each of which may raise further questions
_OTHERS = 4  # answers tried per question
_LARGE = 200_000  # sets with more values are not tried with other answers
_FOLLOWING = {"processors": ("sizes", "scaling"), "time": ("unit", "clock_hz", "scaling", "total")}


def complete(measured: MeasurementSet, said: Mapping[str, Any]) -> tuple[Guess, Guess]:
    """Return the result of `guess_mapping` with every question, and the result with the guesses as answers.

    Raises `InputError` for an answer that does not fit the set.
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
        except InputError:  # the set has no guess as a whole: its own question stays
            break
        asked += [one for one in likely.questions if all(one.key != other.key for other in asked)]
    return replace(first, questions=_with_others(measured, said, asked)), likely


def _with_others(measured: MeasurementSet, said: Mapping[str, Any], asked: Sequence[Question]) -> tuple[Question, ...]:
    """Return the questions *asked*, each with the questions that an answer other than its guess would raise."""
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
    """Return *choices* with the guesses of *questions* about a table, None if nothing can be guessed about it."""
    columns, fields = dict(choices.columns), {}
    for one in questions:
        part, _, title = one.key.partition(".")
        if part == "columns" and title and one.guess:
            columns[title] = one.guess
        elif one.key in ("across", "decimal") and one.guess:
            fields[one.key] = one.guess
        elif one.key == "names" and one.guess:
            names = tuple(part.strip() for part in one.guess.split(","))
            choices = choices.model_copy(update={"names": names})
        else:
            return None
    return choices.model_copy(update={**fields, "columns": columns}) if questions else None


def distinct(questions: Sequence[Question]) -> list[Question]:
    """Return *questions* without those that are decided by the answers to others.

    Sizes are not asked while the role of the same column is; nor is the role of the column that counts processors.
    """
    counts = [one.guess for one in questions if one.key == "processors"]
    asked = [f"'{one.key.partition('.')[2]}'" for one in questions if one.key.startswith("columns.")]
    left = [one for one in questions if one.key != "sizes" or not any(name in one.message for name in asked)]
    return [one for one in left if one.key not in {f"columns.{name}" for name in counts}]
