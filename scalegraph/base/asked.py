"""Declarations of user-settable values: label, unit, range, help and option, once, beside the type.

`asked` declares a field of a pydantic model, `declared` returns its declaration. Range errors, the window's editors,
command line options and the file reference are generated from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from scalegraph.base.amounts import duration_text, size_text
from scalegraph.base.units import as_read


@dataclass(frozen=True)
class Option:
    """The command line option that sets the value, ``Option("-m", "--machine", metavar="M")``.

    *help* replaces the value's own, for an option that switches something off. *note* is appended to the help. *only*:
    the single command that has it, if not every command that makes a request. *switches*: for a value with choices,
    a switch for each of some choices, in place of an option that takes the choice; *values* has their help.
    """

    names: tuple[str, ...]
    metavar: str = ""
    help: str = ""
    note: str = ""
    repeat: bool = False
    only: str = ""
    switches: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def flag(self) -> str:
        """The name used in messages: the last, which is the long one."""
        return self.names[-1]


def option(*names: str, **more: Any) -> Option:
    """Return the option with these names; see `Option` for the other arguments."""
    return Option(names, **more)


@dataclass(frozen=True)
class _Asked:
    """What a pydantic field cannot store."""

    label: str
    short: str
    hint: str
    choices: Mapping[str, str]
    option: Option | None
    runtime: str


def asked(
    help: str,  # noqa: A002 - what it is called everywhere
    *,
    label: str,
    unit: str = "",
    short: str = "",
    hint: str = "",
    choices: Mapping[Any, str] | None = None,
    option: Option | None = None,
    runtime: str = "",
    **more: Any,
) -> Any:
    """Return the pydantic field of a user-settable value; *more* is passed to pydantic: default, ge, gt, le, lt.

    *label* names the value in the window, *short* where there is little room. *unit* is ``B`` or ``s`` for sizes and
    times, which are then read and written with any unit. *hint* is what an empty editor shows, by default the default.
    *choices* explains the names that the value may have. *runtime*: the key, in the section ``run`` of the simulator's
    configuration, under which a run is told the value.
    """
    info = Field(description=help, json_schema_extra={"unit": unit}, **more)
    info.metadata.append(_Asked(label, short, hint, choices or {}, option, runtime))
    return info


@dataclass(frozen=True)
class Declared:
    """The declaration of a value: *least* and *most* are the ends of its range, None if unbounded.

    *above*, *below*: the ends themselves are excluded.
    """

    key: str
    label: str
    unit: str
    help: str
    short: str
    hint: str
    choices: Mapping[str, str]
    option: Option | None
    runtime: str
    default: Any = None
    whole: bool = False
    least: float | None = None
    most: float | None = None
    above: bool = False
    below: bool = False

    def amount(self, value: float) -> str:
        """Return *value* with its unit as users type it: ``64 MiB``, ``10 min``, ``0.03``."""
        if self.unit == "B":
            text = size_text(value)
            return text if " " in text else f"{text} B"
        return duration_text(value) if self.unit == "s" else as_read(value)

    def span(self) -> str:
        """Return the range in words with its unit, ``1 to 1000 runs``; empty if unbounded."""
        counted = f" {self.unit}" if self.unit and self.unit not in ("B", "s") else ""
        least = None if self.least is None else self.amount(self.least)
        most = None if self.most is None else self.amount(self.most)
        if least is not None and most is not None and not self.above and not self.below:
            return f"{least} to {most}{counted}"
        low = "" if least is None else f"{'more than' if self.above else 'at least'} {least}"
        high = "" if most is None else f"{'less than' if self.below else 'at most'} {most}"
        ends = ", ".join(filter(None, (low, high)))
        return f"{ends}{counted}" if ends else ""

    def default_text(self) -> str:
        """Return the default as users type it; empty if it is empty, a switch or a list."""
        if isinstance(self.default, bool) or not isinstance(self.default, int | float | str):
            return ""
        return self.default if isinstance(self.default, str) else self.amount(self.default)

    def tip(self) -> str:
        """Return the editor's tooltip: the help, with unit and range."""
        return _with(self.help, self.span() or (f"in {self.unit}" if self.unit else ""))

    def option_help(self) -> str:
        """Return the help of the option: what it does, range and default, and its note."""
        assert self.option is not None, self.key
        default = self.default_text()
        facts = "; ".join(filter(None, (self.span(), f"default: {default}" if default else "")))
        again = "; repeatable" if self.option.repeat else ""
        return f"{_with(self.option.help or self.help, facts)}{again}. {self.option.note}".strip()

    def placeholder(self) -> str:
        """Return what an empty editor shows."""
        return self.hint or self.default_text()

    def refusal(self, given: object) -> str:
        """Return an error message for *given*, which is out of range."""
        return f"expected {self.span()}; got {given!r}"

    def expected(self) -> str:
        """Return a description of valid input: ``a whole number of runs``."""
        return f"a {'whole ' if self.whole else ''}number{f' of {self.unit}' if self.unit else ''}"


def _with(text: str, facts: str) -> str:
    return f"{text} ({facts})" if facts else text


def declared(model: type[BaseModel], key: str | Sequence[str | int]) -> Declared | None:
    """Return the declaration of the value at *key* (``limits.time_s``, ``bound.0.value``) of *model*.

    None if there is no such value or `asked` did not declare it. List indices in the key are skipped.
    """
    path = key.split(".") if isinstance(key, str) else key
    names = [str(part) for part in path if not str(part).isdigit()]
    if not names:
        return None
    here: type[BaseModel] | None = model
    for name in names[:-1]:
        found = None if here is None else here.model_fields.get(name)
        here = None if found is None else next(models(found.annotation), None)
    info = None if here is None else here.model_fields.get(names[-1])
    return None if info is None else _of(".".join(names), info)


def every(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, Declared | None]]:
    """Yield (key, declaration) for every value of *model* and its nested models, in order."""
    for name, info in model.model_fields.items():
        yield f"{prefix}{name}", _of(f"{prefix}{name}", info)
        for inner in models(info.annotation):
            yield from every(inner, f"{prefix}{name}.")


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models that a value of type *annotation* may contain."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models(part)


def _of(key: str, info: FieldInfo) -> Declared | None:
    said = next((item for item in info.metadata if isinstance(item, _Asked)), None)
    if said is None:
        return None
    extra = info.json_schema_extra
    ends = _ends(info)
    default = info.get_default(call_default_factory=True)
    low, high = (next((word for word in pair if word in ends), "") for pair in (("ge", "gt"), ("le", "lt")))
    return Declared(
        key=key,
        unit=str(extra.get("unit", "")) if isinstance(extra, dict) else "",
        help=info.description or "",
        default=None if default is PydanticUndefined else default,
        whole=int in (info.annotation, *_plain(info.annotation)),
        least=ends.get(low),
        most=ends.get(high),
        above=low == "gt",
        below=high == "lt",
        **vars(said),
    )


def _ends(info: FieldInfo) -> dict[str, float]:
    """Return the bounds of a number, or of each number in a list."""
    rules = [*info.metadata, *_rules(info.annotation)]
    words = ("ge", "gt", "le", "lt")
    return {word: getattr(rule, word) for word in words for rule in rules if getattr(rule, word, None) is not None}


def _rules(annotation: Any) -> Iterator[Any]:
    for part in get_args(annotation):
        for rule in getattr(part, "__metadata__", ()):
            yield from rule.metadata if isinstance(rule, FieldInfo) else (rule,)
        yield from _rules(part)


def _plain(annotation: Any) -> Iterator[Any]:
    for part in get_args(annotation):
        yield part
        yield from _plain(part)
