"""What a view is: its name, its place in the menus, its options declared as data, and how it is built."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.figures.figure import Figure
from scalegraph.views.data import StudyData
from scalegraph.views.trace_data import TraceData

OptionValue: TypeAlias = int | float | str | bool | None
Subject: TypeAlias = Literal["study", "trace"]
_MANY: dict[Subject, str] = {"study": "studies", "trace": "traces"}
_TRUE = {"yes": True, "true": True, "1": True, "on": True, "no": False, "false": False, "0": False, "off": False}


@dataclass(frozen=True)
class Option:
    """One option of a view. A *default* of ``None`` means: chosen from the data, and said in the picture.

    An option that *follows* takes what the user selects in the window where nothing else was chosen for it: a view of
    one run then shows the run on the selected N. The option's name is that of the part of the selection. An option
    that leaves something out (the N of a matrix, one row of several) never follows: a selection marks, it does not
    filter.

    *words*, one for each of *choices*, are what people read in place of the choices' names.
    """

    name: str
    title: str
    type: Literal["int", "float", "choice", "bool", "text"]
    default: OptionValue = None
    choices: tuple[str, ...] = ()
    unit: str = ""
    description: str = ""
    minimum: float | None = None
    maximum: float | None = None
    follows: bool = False
    words: tuple[str, ...] = ()

    @property
    def worded(self) -> tuple[tuple[str, str], ...]:
        """Choices as people read them, each with its name."""
        return tuple(zip(self.words or self.choices, self.choices, strict=True))

    def parse(self, value: OptionValue) -> OptionValue:
        """Return *value*, text or already typed, as the option's type.

        Raises:
            InputError: the value is of another kind, outside the range or not among the choices.

        """
        if value is None or value == "":
            return self.default
        if self.type == "text":
            return str(value)
        if self.type == "bool":
            return self._bool(value)
        if self.type == "choice":
            if str(value) not in self.choices:
                raise self._fault(f"one of {', '.join(self.choices)}", value, near(str(value), self.choices))
            return str(value)
        return self._number(value)

    def _bool(self, value: OptionValue) -> bool:
        if isinstance(value, bool):
            return value
        if str(value).lower() not in _TRUE:
            raise self._fault("yes or no", value)
        return _TRUE[str(value).lower()]

    def _number(self, value: OptionValue) -> int | float:
        kind = "a whole number" if self.type == "int" else "a number"
        number: int | float
        try:
            number = int(str(value)) if self.type == "int" else float(str(value))
        except ValueError:
            raise self._fault(kind, value) from None
        low, high = self.minimum, self.maximum
        # written so that NaN fails
        if (low is not None and not number >= low) or (high is not None and not number <= high):
            span = f" of at least {low:g}" if high is None else f" between {low or 0:g} and {high:g}"
            raise self._fault(kind + span, value)
        return number

    def _fault(self, expected: str, value: OptionValue, more: str = "") -> InputError:
        return InputError(Fault(f"expected {expected}, got '{value}'{more}", key=self.name))


def checked(options: Iterable[Option], given: Mapping[str, OptionValue], whose: str) -> dict[str, OptionValue]:
    """Return every one of *options* with its typed value, the default where none is *given*; *whose* for sentences.

    Raises:
        InputError: an unknown option, or a value that does not fit, all of them at once.

    """
    known = {option.name: option for option in options}
    faults: list[Fault] = []
    values = {option.name: option.default for option in known.values()}
    for name, value in given.items():
        if name not in known:
            choice = near(name, known) or (f"; known: {', '.join(known)}" if known else "; it has none")
            faults.append(Fault(f"{whose} has no option '{name}'{choice}", key=name))
            continue
        try:
            values[name] = known[name].parse(value)
        except InputError as error:
            faults.extend(error.faults)
    if faults:
        raise InputError(faults)
    return values


@dataclass(frozen=True)
class View:
    """A self-describing view: menus, ``--help`` and documentation are made from it.

    *make* turns what the view shows and the options into a `Figure`; call `build`, which checks the options first. The
    *subject* is a study (`StudyData`) or a trace (`TraceData`). A view for *several* compares it with its ``others``.
    A *window* view shows a stretch of time (options begin, end, width) and is built again when that changes.
    """

    name: str
    title: str
    group: str
    description: str
    make: Callable[..., Figure]
    options: tuple[Option, ...] = ()
    order: int = 100
    several: bool = False
    subject: Subject = "study"
    window: bool = False

    def build(self, data: StudyData | TraceData, **options: OptionValue) -> Figure:
        """Return the figure of *data*; options not given take their defaults.

        Raises:
            InputError: an unknown option, or a value that does not fit, all of them at once; or *data* is a trace and
                this is a view of studies, or the other way round.

        """
        if isinstance(data, TraceData) != (self.subject == "trace"):
            given = "trace" if isinstance(data, TraceData) else "study"
            raise InputError(Fault(f"'{self.name}' is a view of {_MANY[self.subject]}, not of a {given}", key="--view"))
        return self.make(data, **self.check(options))

    def check(self, options: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
        """Return every option with its typed value.

        Raises:
            InputError: see `build`.

        """
        return checked(self.options, options, f"view '{self.name}'")
