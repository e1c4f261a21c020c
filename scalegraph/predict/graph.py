"""Thread graphs as written by the user: classes of threads, each a list of steps; TOML files ``NAME.graph.toml``.

A step is a segment (which takes time), an event (which communicates), or a construct that contains steps: a loop, a
critical section, a branch. Segments between two events add up. Clusters and parts make the graph hierarchical: a
cluster is a segment in which the threads of a class run, a part is a named list of steps. Source: semi-empirical paper,
2.1.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from scalegraph.base import expression
from scalegraph.base.errors import near
from scalegraph.base.toml import load_model, read_text

Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
Formula: TypeAlias = Annotated[str, Field(max_length=400)]
Kind: TypeAlias = Literal[
    "segment",
    "loop",
    "critical",
    "branch",
    "barrier",
    "fork",
    "join",
    "cluster",
    "part",
    "send",
    "receive",
    "acquire",
    "release",
]
KINDS: tuple[Kind, ...] = (
    "segment",
    "loop",
    "critical",
    "branch",
    "barrier",
    "fork",
    "join",
    "cluster",
    "part",
    "send",
    "receive",
    "acquire",
    "release",
)
HOLDERS: tuple[Kind, ...] = ("loop", "critical", "branch")
COSTS = ("fork", "join", "barrier", "lock", "send", "receive", "transit")
_DEEPEST = 20


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Step(_Part):
    """A step of a thread; exactly one of the keys in `KINDS` says which kind, with the name as its value.

    *time* of a segment in seconds, *iterations* of a loop, *share* of a branch (the fraction of passes that take it),
    *to*, *bytes* and *transit* (seconds in transit) of a message are formulas over the parameters, ``N``, ``thread``
    (the number of the thread in its class) and the enclosing loops (passes completed). A step whose *when* is 0 is
    skipped.
    """

    segment: Name | None = None
    loop: Name | None = None
    critical: Name | None = None
    branch: Name | None = None
    barrier: Name | None = None
    fork: Name | None = None
    join: Name | None = None
    cluster: Name | None = None
    part: Name | None = None
    send: Name | None = None
    receive: Name | None = None
    acquire: Name | None = None
    release: Name | None = None
    time: Formula = ""
    iterations: Formula = ""
    share: Formula = ""
    to: Formula = ""
    bytes: Formula = ""
    cost: Formula = ""
    transit: Formula = ""
    when: Formula = ""
    place: str = ""  # file:line
    steps: tuple[Step, ...] = ()

    @model_validator(mode="after")
    def _one_kind(self) -> Step:
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(f"a step is one of {', '.join(KINDS)}; got {' and '.join(given) or 'none of them'}")
        for key, owner in (("time", "segment"), ("iterations", "loop"), ("share", "branch"), ("to", "send")):
            if bool(getattr(self, key)) != (given[0] == owner):
                word = "needs" if given[0] == owner else "cannot have"
                raise ValueError(f"the {given[0]} '{self.name}' {word} the key '{key}'")
        if self.steps and self.kind not in HOLDERS:
            raise ValueError(f"the {self.kind} '{self.name}' cannot hold steps")
        return self

    @property
    def kind(self) -> Kind:
        """The kind of step."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def name(self) -> str:
        """The name of the segment, loop, lock, channel, barrier, class or part."""
        return str(getattr(self, self.kind))

    @property
    def formulas(self) -> tuple[str, ...]:
        """The formulas of the step."""
        every = (self.time, self.iterations, self.share, self.to, self.bytes, self.cost, self.transit, self.when)
        return tuple(formula for formula in every if formula)


class ThreadClass(_Part):
    """A template of threads; *count* of them are created, at the start or where the class is forked.

    If a class is *alike*, one thread stands for all (eq. 2.5).
    """

    name: Name
    count: Formula = "1"
    alike: bool = False
    steps: tuple[Step, ...]


class Part(_Part):
    """A named list of steps that others can include."""

    name: Name
    steps: tuple[Step, ...]


class Graph(_Part):
    """A thread graph.

    *costs* of events in seconds are formulas over parameters, ``N`` and ``k``, the number of threads that take part;
    ``transit`` also over ``bytes``.
    """

    title: str = ""
    parameters: tuple[Name, ...] = ()
    costs: dict[str, Formula] = Field(default_factory=dict)
    classes: tuple[ThreadClass, ...] = Field(alias="class", min_length=1)
    parts: tuple[Part, ...] = Field(default=(), alias="part")

    @model_validator(mode="after")
    def _whole(self) -> Graph:
        for names, what in (([one.name for one in self.classes], "class"), ([p.name for p in self.parts], "part")):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"the {what} '{twice[0]}' appears twice")
        variables = frozenset({*self.parameters, "N"})
        for name, formula in self.costs.items():
            if name not in COSTS:
                raise ValueError(f"there is no cost '{name}'{near(name, COSTS)}")
            expression.parse(formula, variables | {"k", "bytes"})
        for one in self.classes:
            expression.parse(one.count, variables)
            self._check(one.steps, variables | {"thread"}, 0)
        return self

    def _check(self, steps: tuple[Step, ...], variables: frozenset[str], depth: int) -> None:
        """Raise `ValueError` for the first step with an unknown name or an invalid formula."""
        if depth > _DEEPEST:
            raise ValueError("parts and loops are nested too deeply; does a part include itself?")
        for step in steps:
            known = [one.name for one in (self.parts if step.kind == "part" else self.classes)]
            if step.kind in ("part", "fork", "join", "cluster") and step.name not in known:
                what = "part" if step.kind == "part" else "class"
                raise ValueError(f"there is no {what} '{step.name}'{near(step.name, known)}")
            for formula in step.formulas:
                expression.parse(formula, variables)
            inner = variables | {step.name} if step.kind == "loop" else variables
            self._check(self.inside(step), inner, depth + 1)

    def inside(self, step: Step) -> tuple[Step, ...]:
        """Return the steps that *step* contains or includes."""
        if step.kind == "part":
            return next(part.steps for part in self.parts if part.name == step.name)
        return step.steps

    def walk(self, steps: tuple[Step, ...]) -> Iterator[Step]:
        """Yield *steps* and everything inside them."""
        for step in steps:
            yield step
            yield from self.walk(self.inside(step))

    @property
    def forked(self) -> frozenset[str]:
        """Names of the classes whose threads are created by others."""
        return frozenset(
            step.name for one in self.classes for step in self.walk(one.steps) if step.kind in ("fork", "cluster")
        )


def load(path: Path) -> Graph:
    """Read a graph file; raise `InputError` with every fault and its place."""
    return parse(read_text(path), str(path))


def parse(text: str, file: str = "graph") -> Graph:
    """Return the graph of TOML *text*; raise `InputError` with every fault and its place in *file*."""
    return load_model(Graph, text, file)


def dump(graph: Graph) -> str:
    """Return *graph* as TOML text that `parse` reads."""
    lines = [f"title = {_text(graph.title)}"] if graph.title else []
    lines.append(f"parameters = [{', '.join(map(_text, graph.parameters))}]")
    if graph.costs:
        lines += ["", "[costs]", *(f"{name} = {_text(formula)}" for name, formula in graph.costs.items())]
    for one in graph.classes:
        lines += ["", "[[class]]", f"name = {_text(one.name)}", f"count = {_text(one.count)}"]
        lines += ["alike = true"] if one.alike else []
        lines += ["steps = [", *_steps(one.steps, 1), "]"]
    for part in graph.parts:
        lines += ["", "[[part]]", f"name = {_text(part.name)}", "steps = [", *_steps(part.steps, 1), "]"]
    return "\n".join(lines) + "\n"


def _steps(steps: tuple[Step, ...], depth: int) -> Iterator[str]:
    margin = "    " * depth
    for step in steps:
        keys = (step.kind, "time", "iterations", "share", "to", "bytes", "cost", "transit", "when", "place")
        pairs = ", ".join(f"{key} = {_text(str(value))}" for key in keys if (value := getattr(step, key)))
        if not step.steps:
            yield f"{margin}{{ {pairs} }},"
            continue
        yield f"{margin}{{ {pairs}, steps = ["
        yield from _steps(step.steps, depth + 1)
        yield f"{margin}] }},"


def _text(value: str) -> str:
    import tomlkit

    return tomlkit.string(value).as_string()
