"""Options as data: of views and of quantities, declared once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.units import as_read

OptionValue: TypeAlias = int | float | str | bool | None


_TRUE = {"yes": True, "true": True, "1": True, "on": True, "no": False, "false": False, "0": False, "off": False}


@dataclass(frozen=True)
class Option:
    """An option of a view. A *default* of ``None`` is chosen from the data and stated in the picture.

    An option that *follows* takes the user's selection in the window as its default: a view of one run then shows the
    run on the selected N. The option's name is that of the part of the selection. An option that leaves something out
    (the N of a matrix, one row of several) never follows: a selection marks, it does not filter.

    *words*: display names of *choices*, one each. *aliases*: earlier names of choices, with the present one: `parse`
    accepts them for one version.
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
    aliases: tuple[tuple[str, str], ...] = ()

    @property
    def worded(self) -> tuple[tuple[str, str], ...]:
        """Display names of the choices, with the choices."""
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
            value = dict(self.aliases).get(str(value), value)
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
            least = as_read(low or 0)
            span = f" of at least {least}" if high is None else f" between {least} and {as_read(high)}"
            raise self._fault(kind + span, value)
        return number

    def _fault(self, expected: str, value: OptionValue, more: str = "") -> InputError:
        return InputError(Fault(f"expected {expected}, got '{value}'{more}", key=self.name))


def checked(options: Iterable[Option], given: Mapping[str, OptionValue], whose: str) -> dict[str, OptionValue]:
    """Return the typed value of each of *options*, by default its own default; *whose*: used in messages.

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
