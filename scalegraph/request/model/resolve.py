"""Resolves a request into program, arguments, sizes and machine; or finds every fault in it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from scalegraph import machine as machines
from scalegraph.analyze import workload
from scalegraph.base import expression
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.run import RunPoint, Value
from scalegraph.base.units import as_read
from scalegraph.link import RunOptions
from scalegraph.request.model import (
    collecting,
    commands,
    prediction,
    processes,
    programs,
    targeting,
    tracing,
    variants,
)
from scalegraph.request.model.family import Family
from scalegraph.request.model.programs import Described, Parameter
from scalegraph.request.model.request import Request
from scalegraph.runtime.languages import EXPECTED, is_program_part
from scalegraph.runtime.mpi import rules

_VARIABLES = (rules.VARIABLE, "SCALEGRAPH_OPENMP", "SCALEGRAPH_TASK_QUEUE")  # that change how a program is simulated


@dataclass(frozen=True)
class Target:
    """What to build and how to start it. *sources* and *include* are relative to *build_dir*."""

    program: str
    title: str
    sources: tuple[str, ...]
    build_dir: Path
    run_dir: Path
    args: tuple[str, ...]
    cflags: tuple[str, ...]
    ldflags: tuple[str, ...]
    include: tuple[str, ...]
    stdin: Path | None
    env: Mapping[str, str]
    executable: str = ""
    build: str = ""
    command: bool = False  # *args* are all words of a command that is measured as it is
    args_at: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def arguments(self, point: RunPoint, options: RunOptions) -> tuple[str, ...]:
        """Return the arguments of the run of *point*."""
        words = self.args_at.get(point.processors, self.args)
        return programs.fill(words, point.parameters, point.processors, options.processes(point.processors))


@dataclass(frozen=True)
class Resolved:
    """A request whose names were all found. *sweep*: the base sizes, one unless a parameter sweeps; *work*: W.

    See `analyze.workload` for the latter; the default is that of the program's description.
    """

    request: Request
    target: Target
    described: Described | None
    family: Family
    method: str
    sweep: tuple[dict[str, Value], ...]
    machine: machines.Machine
    machine_reference: str
    work: str = ""
    setting: Mapping[str, str] = field(default_factory=dict)  # in a study of several choices: the choice of these runs


def resolve(request: Request) -> tuple[Resolved | None, list[Fault]]:
    """Return the resolved request, or None, and every fault; if the faults are only remarks, there are both."""
    work = _Work(request)
    return work.result(), work.faults


def resolved(request: Request) -> Resolved:
    """Return the resolved request; raise `InputError` with every fault."""
    found, faults = resolve(request)
    errors = [fault for fault in faults if fault.severity == "error"]
    if errors or found is None:
        raise InputError(errors)
    return found


def machine_reference(request: Request) -> str:
    """Return the argument of `machine.load` for the machine of *request*."""
    choice, base = request.machine, Path(request.program.directory or ".").expanduser().absolute()
    return str(base / choice.path) if choice.path else choice.name


def _formula(text: str, variables: frozenset[str]) -> expression.Expression | None:
    """Return the formula in a program description; None if it is empty, or one of its numbers has an invalid value.

    The description was checked when it was read, so the value is a fault of the request, already reported.
    """
    try:
        return expression.parse(text, variables) if text else None
    except ValueError:
        return None


class _Work:
    def __init__(self, request: Request) -> None:
        self.request = request
        self.faults: list[Fault] = []
        self.base_dir = Path(request.program.directory or ".").expanduser().absolute()

    def fault(self, key: str, message: str) -> None:
        self.faults.append(Fault(message, key=key))

    def result(self) -> Resolved | None:
        described = self._described()
        if self.request.program.name and described is None:
            self._machine()
            return None
        target = self._target(described)
        base = self._parameters(described)
        target = replace(target, args_at=self._arguments_at())
        self._environment()
        if target.command:
            self.faults += commands.faults(self.request, target.args, target.env, base, target.run_dir)
        else:
            self._arguments("program.args", target.args, base)
            for count, words in target.args_at.items():
                self._arguments(f"program.args_at.{count}", words, base)
        method, grow = self._growth(described)
        self._bounds(method, grow)
        machine = self._machine()
        family = self._family(described, base, grow)
        self._memory(family)
        counted = self._counted(described, base)
        if machine is None or any(fault.severity == "error" for fault in self.faults):
            return None
        sizes, reference = self._sweep(base), self._reference()
        return Resolved(self.request, target, described, family, method, sizes, machine, reference, counted)

    def _described(self) -> Described | None:
        name = self.request.program.name
        if not name:
            return None
        if name not in programs.names() and (name.endswith(".toml") or "/" in name):
            name = str(self.base_dir / name)
        try:
            return programs.load(name)
        except InputError as error:
            self.faults += [fault if fault.file else Fault(fault.message, key="program.name") for fault in error.faults]
            return None

    def _target(self, described: Described | None) -> Target:
        choice = self.request.program
        if not self.base_dir.is_dir():
            self.fault("program.directory", f"'{self.base_dir}' is not a directory")
        run_dir = self.base_dir / Path(choice.cwd).expanduser()
        if choice.cwd and not run_dir.is_dir():
            self.fault("program.cwd", f"'{choice.cwd}' is not a directory")
        stdin = self.base_dir / choice.stdin if choice.stdin and choice.stdin != os.devnull else None
        if stdin is not None and not stdin.is_file():
            self.fault("program.stdin", f"'{choice.stdin}': no such file")
        if described is not None:
            program = described.program
            include = (*program.include, *(str(self.base_dir / item) for item in choice.include))
            return Target(
                described.name,
                program.title,
                program.sources,
                described.path.parent,
                run_dir,
                program.args if choice.args is None else choice.args,
                (*program.cflags, *choice.cflags),
                (*program.ldflags, *choice.ldflags),
                include,
                stdin,
                choice.env,
            )
        if choice.command:
            name, words = commands.named(choice, run_dir)
            return Target(name, name, (), self.base_dir, run_dir, words, (), (), (), stdin, choice.env, command=True)
        if choice.executable and not choice.build and not (self.base_dir / choice.executable).is_file():
            self.fault("program.executable", f"'{choice.executable}': no such file")
        for index, source in enumerate(choice.sources):
            if (self.base_dir / source).is_dir():
                self.fault(f"program.sources.{index}", f"'{source}' is a directory; a source was expected")
            elif not (self.base_dir / source).is_file():
                self.fault(f"program.sources.{index}", f"'{source}': no such file")
            elif not is_program_part(source):
                suffix = Path(source).suffix
                self.fault(f"program.sources.{index}", f"'{source}' ends in '{suffix}'; expected {EXPECTED}")
        name = Path(choice.executable or choice.sources[0]).stem
        return Target(
            name,
            name,
            choice.sources,
            self.base_dir,
            run_dir,
            choice.args or (),
            choice.cflags,
            choice.ldflags,
            choice.include,
            stdin,
            choice.env,
            choice.executable,
            choice.build,
        )

    def _parameters(self, described: Described | None) -> dict[str, Value]:
        base = self.request.base()
        if described is None:
            return base
        known = {item.name: item for item in described.program.parameter}
        for name, given in self.request.parameters.items():
            if name not in known:
                there = near(name, known) or f"; {described.name} has {', '.join(known) or 'none'}"
                self.fault(f"parameters.{name}", f"unknown parameter '{name}'{there}")
                continue
            for value in given if isinstance(given, tuple) else (given,):
                problem = known[name].fault(value)
                if problem:
                    self.fault(f"parameters.{name}", problem)
        return described.program.parameters() | {name: _typed(known.get(name), value) for name, value in base.items()}

    def _arguments(self, key: str, args: tuple[str, ...], base: Mapping[str, Value]) -> None:
        for index, arg in enumerate(args):
            try:
                programs.fill((arg,), base, 1)
            except ValueError as error:
                self.fault(f"{key}.{index}", str(error))

    def _environment(self) -> None:
        """Find misspelt variables of ours, and invalid values of them."""
        for name, value in self.request.program.env.items():
            if name == rules.VARIABLE:
                for fault in rules.faults(value):
                    self.fault(f"program.env.{name}", fault)
            elif name.startswith("SCALEGRAPH_") and name not in _VARIABLES:
                self.fault(
                    f"program.env.{name}", f"no variable of ScaleGraph is called '{name}'{near(name, _VARIABLES)}"
                )

    def _arguments_at(self) -> dict[int, tuple[str, ...]]:
        """Return the arguments by number of processors; all of these must be among the counts that run."""
        found = {}
        for count, text in self.request.program.args_at.items():
            if count not in self.request.every_count() and not (count == 1 and self.request.reference):
                self.fault(
                    f"program.args_at.{count}",
                    f"arguments for N = {count} (--args-at), but nothing runs on {count} processors",
                )
            try:
                found[count] = tuple(shlex.split(text))
            except ValueError as error:
                self.fault(f"program.args_at.{count}", f"cannot be split into words ({str(error).lower()}): {text}")
        return found

    def _growth(self, described: Described | None) -> tuple[str, dict[str, str]]:
        scaling = self.request.scaling
        if scaling.grow:
            return "own", dict(scaling.grow)
        if not scaling.method:
            return "", {}
        known = [method.name for method in described.program.method] if described else []
        method = described.program.method_named(scaling.method) if described else None
        if method is None and scaling.method != "I":  # I is the fixed size of every program
            if not described:
                text = "a program of your own has no named methods; write which parameters grow: grow = { n = 'N' }"
            else:
                text = f"unknown method '{scaling.method}'; {described.name} has {', '.join(known) or 'none'}"
            self.fault("scaling.method", text)
        return scaling.method, dict(method.grow) if method else {}

    def _bounds(self, method: str, grow: Mapping[str, str]) -> None:
        for index, bound in enumerate(self.request.bound):
            if bound.kind != "problem_size" and not grow:
                which = f"method {method} grows nothing" if method else "nothing grows"
                wanted = "the growth of" if bound.kind == "growth" else f"the {bound.kind} bound needs"
                message = f"{which}, but {wanted} a size that can be changed: choose what grows under [scaling]"
                if not any(fault.key.startswith("scaling") for fault in self.faults):
                    self.fault(f"bound.{index}.kind", message.replace("the growth of a", "growth needs a"))

    def _family(self, described: Described | None, base: dict[str, Value], grow: Mapping[str, str]) -> Family:
        rules = {}
        for name, text in grow.items():
            key = f"scaling.grow.{name}" if self.request.scaling.grow else "scaling.method"
            if name not in base:
                self.fault(key, f"'{name}' is not a parameter{near(name, base) or '; define it under [parameters]'}")
            elif isinstance(base[name], str):
                self.fault(key, f"'{name}' is text and cannot grow")
            else:
                rule = self._rule(key, text)
                if rule is not None:
                    rules[name] = rule
        variables = frozenset(name for name, value in base.items() if not isinstance(value, str))
        formulas = (described.program.work, described.program.memory) if described else ("", "")
        work, memory = (_formula(text, variables) for text in formulas)
        parameters = {item.name: item for item in described.program.parameter} if described else {}
        family = Family(base, rules, parameters, work, memory)
        if work is not None and rules and family.work(family.highest) <= family.work(family.lowest) * 1.001:
            family = Family(base, rules, parameters, None, memory)  # a formula that does not depend on what grows
        return family

    def _counted(self, described: Described | None, base: dict[str, Value]) -> str:
        """Return the definition of W."""
        text = self.request.work or (described.program.counted if described else "")
        variables = frozenset(name for name, value in base.items() if not isinstance(value, str))
        if wrong := workload.fault(text, variables):
            self.fault("work", wrong)
        return text

    def _rule(self, key: str, text: str) -> expression.Expression | None:
        """Return the growth rule if it is above 0 and never falls over the request's processor counts."""
        try:
            rule = expression.parse(text, frozenset({"N"}))
            counts = sorted({1, *self.request.every_count()})
            values = [rule({"N": float(count)}) for count in counts]
        except ValueError as error:
            self.fault(key, str(error))
            return None
        for count, value in zip(counts, values, strict=True):
            if value <= 0:
                self.fault(key, f"'{text}' is {as_read(value)} at N = {count}; a factor above 0 was expected")
                return None
        if values != sorted(values):
            self.fault(key, f"'{text}' falls while N rises; a factor that grows was expected")
            return None
        return rule

    def _memory(self, family: Family) -> None:
        for index, bound in enumerate(self.request.bound):
            if bound.kind != "memory" or not family.grows or family.memory_grows():
                continue
            if family.memory_formula is None:
                text = "the memory bound needs a program whose description gives its memory (memory = '960 * n')"
            else:
                text = (
                    f"the memory bound needs a size that changes the memory, but {', '.join(family.grow)} does not: "
                    f"it is {family.memory_formula.text}"
                )
            self.fault(f"bound.{index}.kind", text)

    def _reference(self) -> str:
        return machine_reference(self.request)

    def _machine(self) -> machines.Machine | None:
        choice = self.request.machine
        try:
            machine = machines.load(self._reference(), collecting.machine_values(self.request))
        except InputError as error:
            key = "machine.path" if choice.path else "machine.name"
            for fault in error.faults:
                place = f"machine.overrides.{fault.key}" if fault.key in choice.overrides else key
                self.faults.append(fault if fault.file else Fault(fault.message, key=place))
            return None
        target_faults = targeting.faults(self.request)
        self.faults += target_faults
        if not target_faults and targeting.is_simulated(self.request):
            self.faults += processes.of_machine(self.request, machine)
        self.faults += processes.faults(self.request)
        self.faults += collecting.faults(self.request)
        self.faults += variants.machine_faults(self.request, self._reference())
        self.faults += tracing.faults(self.request, machine)
        self.faults += prediction.faults(self.request)
        return machine

    def _sweep(self, base: dict[str, Value]) -> tuple[dict[str, Value], ...]:
        sizes = [base]
        for name, given in self.request.parameters.items():
            if isinstance(given, tuple):
                kind = base[name]
                sizes = [size | {name: float(v) if isinstance(kind, float) else v} for size in sizes for v in given]
        return tuple(sizes)


def _typed(parameter: Parameter | None, value: Value) -> Value:
    """Return *value* in the parameter's own type: 3 becomes 3.0 for a float, 100.0 becomes 100 for an integer."""
    if parameter is None or isinstance(value, str) or isinstance(parameter.default, str):
        return value
    if isinstance(parameter.default, float):
        return float(value)
    return int(value) if value == int(value) else value
