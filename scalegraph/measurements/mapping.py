"""The meaning of a measurement set's parameters and metrics, by which its points become runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from scalegraph.base.errors import Fault, InputError

Scaling: TypeAlias = Literal["", "strong", "weak"]

# Seconds per unit of time, by the names that tools and people use.
SECONDS: dict[str, float] = {
    "s": 1.0,
    "sec": 1.0,
    "secs": 1.0,
    "second": 1.0,
    "seconds": 1.0,
    "ms": 1e-3,
    "msec": 1e-3,
    "millisecond": 1e-3,
    "milliseconds": 1e-3,
    "us": 1e-6,
    "usec": 1e-6,
    "\u00b5s": 1e-6,
    "\u03bcs": 1e-6,
    "microsecond": 1e-6,
    "microseconds": 1e-6,
    "ns": 1e-9,
    "nsec": 1e-9,
    "nanosecond": 1e-9,
    "nanoseconds": 1e-9,
    "min": 60.0,
    "minute": 60.0,
    "minutes": 60.0,
    "h": 3600.0,
    "hour": 3600.0,
    "hours": 3600.0,
    "sec.": 1.0,
    "sek": 1.0,
    "sekunden": 1.0,
    "secondes": 1.0,
    "segundos": 1.0,
    "mins": 60.0,
    "minuten": 60.0,
    "hr": 3600.0,
    "hrs": 3600.0,
    "stunden": 3600.0,
    "ks": 1e3,
    "d": 86400.0,
    "day": 86400.0,
    "days": 86400.0,
    "tage": 86400.0,
}

SWITCHES = {"extent": "values", "clock_hz": "clock"}  # fields whose options have other names

CYCLES = frozenset({"cycles", "cycle", "cyc", "clocks", "ticks"})  # seconds only with the clock frequency


class Mapping(BaseModel):
    """The meaning of a set's names. It is stored with the set, so that it can be changed later.

    *processors*: the parameter that counts them; *time*: the metric of elapsed time, in *unit*, at the call path
    *total* (a name of `MeasurementSet.paths`); each is empty if there is none: models over the parameters work all the
    same. *summed*: values are sums over the processors, so the elapsed time is the value divided by their number.
    *columns*: metrics for other columns of the run table (``work_flops``, ``references``, ..). *sizes*: the parameters
    that make the problem larger; *follow*: those that follow from the processors and other parameters, and distinguish
    no problems. *scaling*: whether the problem grows with the processors, if no size shows it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    processors: str = ""
    time: str = ""
    unit: str = ""
    total: str = ""
    summed: bool = False
    scaling: Scaling = ""
    clock_hz: float | None = Field(default=None, gt=0, allow_inf_nan=False)  # if the unit is cycles
    sizes: tuple[str, ...] = ()
    follow: tuple[str, ...] = ()
    columns: dict[str, str] = Field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """Seconds in one unit of the time metric; 1 if the unit is unknown."""
        if self.unit.lower() in CYCLES and self.clock_hz:
            return 1 / self.clock_hz
        return SECONDS.get(self.unit.lower(), 1.0)


@dataclass(frozen=True)
class Question:
    """Something that cannot be guessed safely: the user chooses, by *switch* or in a dialog.

    *key* is the field of `Mapping` or of `table.TableChoices` that the answer goes into; *choices* are likely answers,
    the likeliest first, *because* of what is said there. *said* is the answer that takes the guess, where it is not an
    option of the command line.
    """

    key: str
    message: str
    switch: str
    choices: tuple[str, ...] = ()
    because: str = ""
    said: str = ""

    @property
    def guess(self) -> str:
        """The likeliest answer, empty if no answer is likelier than others."""
        return self.choices[0] if self.choices else ""

    @property
    def answer(self) -> str:
        """The likeliest answer as an option of ``scalegraph import``, empty without one."""
        if self.said:
            return self.said
        key, _, column = self.key.partition(".")
        if not self.guess or (key == "columns" and not column):
            return ""
        if column:
            return f"--column {quote(f'{column}={self.guess}')}"
        return f"--{SWITCHES.get(key, key)} {quote(self.guess)}"

    @property
    def reason(self) -> str:
        """Why the guess is the likeliest, in brackets; empty where that is not known."""
        return f" ({self.guess} {self.because})" if self.guess and self.because else ""

    def __str__(self) -> str:
        return f"{self.message}; say {self.switch}"


class Unanswered(InputError):  # noqa: N818 - reads as what it is in an except clause
    """One question about what cannot be guessed and was not said: all open points, each with its guess.

    What the guess of one point leaves open is another point, so that one answer settles all. Several points have a
    first fault that holds the answer of all guesses; each point has a fault of its own with the switch that answers it.
    """

    def __init__(self, questions: Sequence[Question], file: str) -> None:
        self.questions = tuple(questions)
        self.file = file
        super().__init__(self.points(f"; to take every guess, say {self.together}" if self.together else ""))

    def points(self, said: str = "") -> list[Fault]:
        """Return the fault of each point; several come after a first one that counts them and goes on with *said*."""
        if len(self.questions) < 2:
            return [Fault(str(question), file=self.file) for question in self.questions]
        each = [
            Fault(f"{question}{question.reason}", file=self.file, key=str(number))
            for number, question in enumerate(self.questions, 1)
        ]
        return [Fault(f"{len(each)} points are open{said}", file=self.file), *each]

    @property
    def together(self) -> str:
        """The guesses as options of one command; empty where one point has no guess."""
        answers = [question.answer for question in self.questions]
        return (", " if any(one.said for one in self.questions) else " ").join(answers) if all(answers) else ""
