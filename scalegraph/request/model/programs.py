"""Descriptions of programs: resources/programs/NAME.toml, or a user's file of the same form next to the sources.

The format (keys not marked optional are required; unknown keys are refused)::

    title = "Billiard balls in one dimension"
    summary = "Event-driven simulation of hard balls on a line; each step finds the next collision."
    reference = "scale-graph.txt, section 5"     # optional: where the program comes from
    sources = ["billiard.c"]                     # beside this file
    args = ["{num_balls}", "{num_steps}"]        # {name} is replaced by the parameter's value
    cflags = []                                  # optional; -O2 -g -fopenmp are always there
    ldflags = ["-lm"]                            # optional
    include = []                                 # optional
    memory = "960 * num_balls"                   # optional: bytes, a formula in the parameters (M of eq. 14)
    work = "4 * num_balls * num_steps"           # optional: about the operations on one processor; for estimates only
    counts = "work"                              # optional: W of the metrics: flops, or a formula; "work" is that above
    region = "simulate"                          # optional: the region of interest (a function or phase)

    [[parameter]]
    name = "num_balls"
    title = "balls"                              # for display
    default = 1000                               # int, float or text; its type is the parameter's type
    minimum = 2                                  # optional, numbers only
    maximum = 1000000                            # optional
    scales = "both"                              # work | memory | both | nothing (default)
    description = "..."                          # optional

    [[method]]                                   # the program's scaling methods
    name = "II"
    title = "more balls, same number of steps"
    grow = { num_balls = "N" }                   # factor of the base value, a formula in N; none = fixed size

    [request]                                    # optional: the default request, keys as in a request file
    processors = [1, 2, 4, 8, 16, 32]            #  .. but without [program]
    [request.parameters]                         # optional; a parameter's default counts where it is not named
    [request.scaling]
    method = "IV"
    [request.machine]
    name = "ksr1"
    [[request.bound]]
    kind = "efficiency"
    value = 0.5

Formulas may use + - * / ** ( ) and sqrt, cbrt, log2, log, ceil, floor, min, max. A parameter whose default is an
integer stays an integer: grown values are rounded. Growth factors must be greater than 0 and never fall as N rises;
``"N"`` for two parameters keeps their ratio.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from scalegraph.analyze import workload
from scalegraph.base import expression, toml
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.resources import resource_dir
from scalegraph.base.run import Value
from scalegraph.base.units import as_read
from scalegraph.request.model.defaults import default_machine
from scalegraph.request.model.request import Name, RequestBody, Strict, Text

SIDES = ("px", "py", "pz")
"""Placeholders for the sides of a process grid, balanced factors of the number of processes."""
_COUNTS = re.compile(r"(\{(?:N|px|py|pz)\})")
COUNT = "{N}"  # stands for the number of processors in arguments and environment values


class Parameter(Strict):
    """One input of a program that a request may set."""

    name: Name
    title: str = Field(max_length=100)
    default: Value
    minimum: float | None = None
    maximum: float | None = None
    scales: Literal["work", "memory", "both", "nothing"] = "nothing"
    description: str = ""

    @model_validator(mode="after")
    def _limits_fit(self) -> Parameter:
        if isinstance(self.default, str):
            if self.minimum is not None or self.maximum is not None:
                raise ValueError(f"'{self.name}' is text and has no minimum or maximum")
            return self
        fault = self.fault(self.default)
        if fault:
            raise ValueError(f"the default of '{self.name}' {fault}")
        return self

    def fault(self, value: Value) -> str:
        """Return what is wrong with *value*, or an empty string."""
        if isinstance(self.default, str):
            return "" if isinstance(value, str) else f"must be text, got {value!r}"
        if isinstance(value, str):
            return f"must be a number, got {value!r}"
        if isinstance(self.default, int) and value != int(value):
            return f"must be a whole number, got {as_read(value)}"
        if self.minimum is not None and value < self.minimum:
            return f"must be at least {as_read(self.minimum)}, got {as_read(value)}"
        if self.maximum is not None and value > self.maximum:
            return f"must be at most {as_read(self.maximum)}, got {as_read(value)}"
        return ""


class Method(Strict):
    """A scaling method: which parameters grow, and by which factor over N (scale-graph.txt 5.3)."""

    name: str = Field(min_length=1, max_length=40)
    title: str = Field(default="", max_length=200)
    grow: dict[Name, Text] = Field(default_factory=dict)


class Program(Strict):
    """The facts known about a program before it runs."""

    title: str = Field(max_length=200)
    summary: str = ""
    reference: str = ""
    sources: tuple[Text, ...] = Field(min_length=1)
    args: tuple[Text, ...] = ()
    cflags: tuple[Text, ...] = ()
    ldflags: tuple[Text, ...] = ()
    include: tuple[Text, ...] = ()
    memory: str = ""
    work: str = ""
    counts: str = ""
    region: str = ""
    parameter: tuple[Parameter, ...] = ()
    method: tuple[Method, ...] = ()
    request: RequestBody = Field(default_factory=RequestBody)

    @model_validator(mode="after")
    def _names_agree(self) -> Program:
        names = [item.name for item in self.parameter]
        problems = [f"parameter '{name}' appears twice" for name in sorted(set(names)) if names.count(name) > 1]
        variables = frozenset(item.name for item in self.parameter if not isinstance(item.default, str))
        for what, text in (("memory", self.memory), ("work", self.work)):
            if text:
                problems += _formula_faults(what, text, variables)
        if wrong := workload.fault(self.counted, variables):
            problems.append(f"counts: {wrong}")
        for method in self.method:
            for name, text in method.grow.items():
                if name not in variables:
                    problems.append(f"method {method.name} grows '{name}', which is not a numeric parameter")
                problems += _formula_faults(f"method {method.name}, {name}", text, frozenset({"N"}))
        for name in self.request.parameters:
            if name not in names:
                problems.append(f"[request] sets '{name}', which is not a parameter{near(name, names)}")
        if problems:
            raise ValueError("; ".join(problems))
        return self

    @property
    def counted(self) -> str:
        """Definition of W in the metrics (`analyze.workload`); empty for all operations."""
        return self.work if self.counts == "work" else self.counts

    def parameters(self) -> dict[str, Value]:
        """Return the base values: of the default request, otherwise each parameter's default."""
        return {item.name: item.default for item in self.parameter} | self.request.base()

    def method_named(self, name: str) -> Method | None:
        """Return the scaling method *name*, or None."""
        return next((method for method in self.method if method.name == name), None)


def _formula_faults(what: str, text: str, variables: frozenset[str]) -> list[str]:
    try:
        expression.parse(text, variables)
    except ValueError as error:
        return [f"{what}: {error}"]
    return []


@dataclass(frozen=True)
class Described:
    """A program description and the place it was read from."""

    name: str
    path: Path
    program: Program

    def sources(self) -> tuple[Path, ...]:
        """Return the absolute paths of the C sources."""
        return tuple((self.path.parent / source).resolve() for source in self.program.sources)


def directory() -> Path:
    """Return the directory of the shipped programs; those with MPI are in its folder ``mpi``."""
    return resource_dir("programs")


def names() -> tuple[str, ...]:
    """Return the names of the shipped programs."""
    return tuple(sorted(_shipped()))


def _shipped() -> dict[str, Path]:
    """Return the descriptions of the shipped programs by name."""
    return {path.stem: path for path in directory().rglob("*.toml")}


def load(name_or_path: str) -> Described:
    """Return the shipped program of that name, or the one described by the TOML file at that path.

    Raises `InputError` with every fault; an unknown name comes with the nearest known one.
    """
    if (found := _shipped().get(name_or_path)) is not None:
        path = found
    elif name_or_path.endswith(".toml") or "/" in name_or_path:
        path = Path(name_or_path)
    else:
        known = names()
        hint = near(name_or_path, known) or f"; there are {', '.join(known)}"
        raise InputError(Fault(f"unknown program '{name_or_path}'{hint}"))
    stamp = path.stat() if path.is_file() else None
    return _load(path.resolve(), (stamp.st_mtime_ns, stamp.st_size) if stamp else None)


@lru_cache(maxsize=64)
def _load(path: Path, _stamp: tuple[int, int] | None) -> Described:
    program = toml.load_model(Program, toml.read_text(path), str(path))
    missing = [source for source in program.sources if not (path.parent / source).is_file()]
    if missing:
        raise InputError(
            [Fault(f"source '{name}' is not beside it", file=str(path), key="sources") for name in missing]
        )
    return Described(path.stem, path, program)


def available() -> tuple[Described, ...]:
    """Return the shipped programs; a broken one raises, since we ship it."""
    return tuple(load(name) for name in names())


def verbatim(args: Iterable[str]) -> tuple[str, ...]:
    """Return *args* escaped so that `fill` leaves them unchanged, except `COUNT` and the sides of a process grid."""
    return tuple(_kept_literal(word) for word in args)


def _kept_literal(word: str) -> str:
    parts = _COUNTS.split(word)
    return "".join(
        part if index % 2 else part.replace("{", "{{").replace("}", "}}") for index, part in enumerate(parts)
    )


def fill_count(text: str, processors: int) -> str:
    """Return *text* with `COUNT` replaced by *processors*; every other brace stays (OMP_PLACES has some)."""
    return text.replace(COUNT, str(processors))


def chosen(
    sources: Sequence[str],
    args: tuple[str, ...],
    *,
    include: tuple[str, ...] = (),
    cflags: tuple[str, ...] = (),
    ldflags: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Return the program in the form of a request: sources, or a shipped program if its name is the only one.

    *args* in the form of a request (`verbatim`); a shipped program's own are the default.
    """
    plain: dict[str, Any] = {"include": include, "cflags": cflags, "ldflags": ldflags}
    if not is_shipped(sources):
        return plain | {"sources": tuple(sources), "args": args}
    if not args:
        return plain | {"name": sources[0]}
    # with the user's own arguments, the description's parameters would not apply
    described = load(sources[0])
    program = described.program
    return {
        "sources": tuple(map(str, described.sources())),
        "args": args,
        "include": (*(str(described.path.parent / directory) for directory in program.include), *include),
        "cflags": (*program.cflags, *cflags),
        "ldflags": (*program.ldflags, *ldflags),
    }


def is_shipped(sources: Sequence[str]) -> bool:
    """Return whether *sources* is the name of one shipped program; a file with that name takes precedence."""
    return len(sources) == 1 and not Path(sources[0]).exists() and sources[0] in names()


def machine_for(sources: Sequence[str]) -> str:
    """Return the default machine of a request for *sources*: that of a shipped program's own request."""
    if not is_shipped(sources):
        return default_machine("")
    return load(sources[0]).program.request.machine.reference or default_machine(sources[0])


def fill(
    args: tuple[str, ...], parameters: Mapping[str, Value], processors: int, processes: int | None = None
) -> tuple[str, ...]:
    """Return *args* with every ``{name}`` replaced by the parameter; ``{{`` and ``}}`` are braces.

    ``{N}`` is the number of *processors*; ``{px}``, ``{py}`` and ``{pz}`` are the sides of a grid of the *processes*
    (by default the processors), with as many dimensions as *args* use, unless a parameter has that name. Raises
    `ValueError` naming a placeholder that is not a parameter.
    """
    known = {COUNT[1:-1]: processors, **_sides(args, processes or processors), **parameters}
    return tuple(_filled(arg, known) for arg in args)


def _sides(args: tuple[str, ...], processes: int) -> dict[str, Value]:
    """Return the sides of a grid of *processes*, by the names used in *args*."""
    dimensions = max(
        (index + 1 for index, name in enumerate(SIDES) if any(f"{{{name}}}" in arg for arg in args)), default=0
    )
    return dict(zip(SIDES, balanced_factors(processes, dimensions), strict=False)) if dimensions else {}


def balanced_factors(count: int, dimensions: int) -> tuple[int, ...]:
    """Return *dimensions* factors of *count*, the largest first, with the smallest sum: as MPI_Dims_create does."""
    if dimensions == 1:
        return (count,)
    divisors = [number for number in range(1, count + 1) if count % number == 0]
    found = (
        tuple(sorted((number, *balanced_factors(count // number, dimensions - 1)), reverse=True)) for number in divisors
    )
    return min(found, key=lambda sides: (sum(sides), sides))


def _filled(arg: str, parameters: Mapping[str, Value]) -> str:
    out, index = [], 0
    while index < len(arg):
        two = arg[index : index + 2]
        if two in ("{{", "}}"):
            out.append(two[0])
            index += 2
        elif arg[index] == "{":
            end = arg.find("}", index)
            name = arg[index + 1 : end] if end > 0 else arg[index + 1 :]
            if end < 0 or name not in parameters:
                known = near(name, parameters) or f"; parameters are {', '.join(parameters) or 'none'}"
                raise ValueError(f"argument '{arg}' uses '{{{name}}}', which is not a parameter{known}")
            out.append(written(parameters[name]))
            index = end + 1
        else:
            out.append(arg[index])
            index += 1
    return "".join(out)


def written(value: Value) -> str:
    """Return *value* in the form that a program reads on its command line."""
    return repr(value) if isinstance(value, float) else str(value)
