"""The request panel's content as typed; immutable, so undo only keeps the previous one.

A form may hold anything that can be typed. ``read`` turns it into a `Request`, or into errors that name the field by
its key path in the request file (``processors``, ``bound.0.value``, ``parameters.num_balls``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from scalegraph.base import toml
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.run import SIMULATED
from scalegraph.base.units import as_read
from scalegraph.gui.request import space_form, text
from scalegraph.request.model.defaults import OWN_MACHINE, OWN_PROCESSORS
from scalegraph.request.model.origin import HERE, Origin
from scalegraph.request.model.parts import BOUNDS, BoundWords, TargetChoice
from scalegraph.request.model.prediction import Prediction, read_sizes, sizes_text
from scalegraph.request.model.programs import Program
from scalegraph.request.model.request import SEARCHED, USUAL_TRACE, Bound, Request, Speedups, TraceChoice, WhatIf
from scalegraph.request.model.values import request_value

Pairs = tuple[tuple[str, str], ...]

CUSTOM: Final = "*"  # the growth is written out, not a method of the program
FIXED: Final = ""
BOUND_KINDS: Final = tuple(BOUNDS)


def bound_words(kind: str) -> BoundWords:
    """Return the declaration of a kind of bound, nothing if the kind does not exist."""
    return next((words for name, words in BOUNDS.items() if name == kind), BoundWords(kind, ""))


def _usual(key: str) -> str:
    """Return the declared default of the request's value *key*, as it would be typed."""
    return request_value(key).default_text()


@dataclass(frozen=True)
class BoundForm:
    """One bound, as typed."""

    kind: str = "problem_size"
    value: str = ""
    tolerance: str = _usual("bound.tolerance")
    max_runs: str = _usual("bound.max_runs")

    @staticmethod
    def of_kind(kind: str) -> BoundForm:
        """Return a bound of *kind* with an initial value."""
        return BoundForm(kind=kind, value=bound_words(kind).start)


@dataclass(frozen=True)
class RequestForm:
    """Everything in the panel, as typed."""

    title: str = ""
    program: str = ""  # a shipped program, or empty for the user's own
    sources: tuple[str, ...] = ()
    built: bool = False  # the user's own build makes the program
    build: str = ""
    executable: str = ""
    args: str = ""
    args_at: Pairs = ()
    cflags: str = ""
    ldflags: str = ""
    include: str = ""
    env: Pairs = ()
    stdin: str = ""
    accept_exit: str = ""
    threads_per_process: str = _usual("program.threads_per_process")
    ranks_per_node: str = ""
    directory: str = ""
    cwd: str = ""
    parameters: Pairs = ()
    method: str = FIXED  # a method's name, CUSTOM, or FIXED
    grow: Pairs = ()
    machine: str = OWN_MACHINE
    machine_path: str = ""
    overrides: Pairs = ()
    target: str = _usual("target.name")
    target_settings: Pairs = ()  # from a file; passed on unchanged, like the maximum number of runs
    until: str = ""
    pin: str = _usual("target.pin")
    warm_up: str = _usual("target.warm_up")
    most_runs: str = _usual("target.most_runs")
    disturbed: str = _usual("target.disturbed")
    longest: str = _usual("target.longest")
    processors: str = text.processors_text(OWN_PROCESSORS)
    bounds: tuple[BoundForm, ...] = (BoundForm(),)
    regions: bool = True
    classes: bool = False
    sample: bool = False
    monitor: str = "none"
    lines: bool = True
    detail: str = "outer"
    repetitions: str = _usual("repetitions")
    reference: bool = True  # from a file; passed on unchanged
    time_s: str = _usual("limits.time_s")
    memory_bytes: str = _usual("limits.memory_bytes")
    output_bytes: str = _usual("limits.output_bytes")
    schedule: str = ""
    compare: str = ""  # schedules of loops to compare
    advise: bool = True
    timed: str = ""
    work: str = ""
    trace: bool = False
    trace_what: tuple[str, ...] = USUAL_TRACE
    trace_processors: str = ""
    trace_sizes: str = "all"
    trace_runs: str = "actual"
    trace_begin: str = ""
    trace_end: str = ""
    trace_region: str = ""
    trace_interval: str = ""
    trace_limit: str = _usual("trace.limit")
    space_machine: str = ""
    space_threads_per_process: str = ""
    space_schedule: str = ""
    space_affinity: str = ""
    space_cflags: str = ""
    space_budget: str = ""
    space_minimise: str = "time"
    predict: bool = False
    predict_at: str = ""
    predict_processors: str = ""
    predict_counting: bool = True
    predict_verify: bool = False
    verify: bool = True  # on for a new request; from a file as the file says
    what_if: tuple[WhatIf, ...] = ()  # from the What if panel or a file; passed on unchanged
    speedups: Speedups = field(default_factory=Speedups)
    origin: Origin = HERE  # where the request was loaded from

    @property
    def checks(self) -> bool:
        """Whether runs check the culprits; only the simulator can."""
        return self.verify and self.target == SIMULATED

    @property
    def chosen(self) -> bool:
        """Whether a program is chosen."""
        return bool(self.program or self.sources or self.built)


@dataclass
class _Reader:
    """Collects values, and errors for those that cannot be read."""

    faults: list[Fault] = field(default_factory=list)

    def take(self, key: str, read: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return read(*arguments)
        except ValueError as error:
            self.faults.append(Fault(str(error), key=key))
            return None

    def number(self, key: str, typed: str) -> Any:
        """Return the number typed for the request's value *key*."""
        said = request_value(key)
        return self.take(key, text.whole if said.whole else text.real, typed, said.expected())


def read(form: RequestForm) -> tuple[Request | None, list[Fault]]:
    """Return the request that *form* describes, and all errors in it.

    A value that cannot be read keeps its default, so that the rest can be checked as well; a request with errors must
    not be run. ``None`` if no request can be made.
    """
    if not form.chosen:
        return None, [Fault("choose a program", key="program")]
    reader = _Reader()
    data = _data(form, reader)
    try:
        request = toml.validate(Request, data, "")
    except InputError as error:
        known = {fault.key for fault in reader.faults}
        return None, reader.faults + [fault for fault in error.faults if fault.key not in known]
    return request.with_origin(form.origin), reader.faults


def _data(form: RequestForm, reader: _Reader) -> dict[str, Any]:
    data: dict[str, Any] = {
        "title": form.title.strip(),
        "program": _program(form, reader),
        "parameters": _pairs(form.parameters, "parameters", reader, text.values),
        "scaling": _scaling(form, reader),
        "machine": {
            "name": form.machine,
            "path": form.machine_path,
            "overrides": _pairs(form.overrides, "machine.overrides", reader, _given),
        },
        "bound": [_bound(bound, index, reader) for index, bound in enumerate(form.bounds)],
        "collect": {
            "regions": form.regions,
            "lines": form.lines,
            "detail": form.detail,
            "classes": form.classes,
            "sample": form.sample,
            "monitor": form.monitor,
        },
        "schedule": form.schedule.replace(" ", ""),
        "schedules": {"compare": form.compare, "advise": form.advise},
        "timed": form.timed.strip(),
        "work": form.work.strip(),
        "reference": form.reference,
        "verify": form.checks,
        "limits": {
            "time_s": reader.take("limits.time_s", text.duration, form.time_s),
            "memory_bytes": reader.take("limits.memory_bytes", text.size, form.memory_bytes),
            "output_bytes": reader.take("limits.output_bytes", text.size, form.output_bytes),
        },
    }
    data["repetitions"] = reader.number("repetitions", form.repetitions)
    data["processors"] = reader.take("processors", text.processors, form.processors)
    data["target"] = _target(form, reader)
    space_form.put(form, data)
    data |= _what_if(form, data["processors"] or ())
    if form.trace:
        data["trace"] = _trace(form, reader)
    if form.predict:
        data["predict"] = _predict(form, reader)
    data["limits"] = {key: value for key, value in data["limits"].items() if value is not None}
    return {key: value for key, value in data.items() if value is not None}


def _target(form: RequestForm, reader: _Reader) -> dict[str, Any]:
    made = {
        "name": form.target,
        "settings": _pairs(form.target_settings, "target.settings", reader, str),
        "until": reader.number("target.until", form.until.strip().removesuffix("%")) if form.until.strip() else 0.0,
        "pin": form.pin,
        "warm_up": reader.number("target.warm_up", form.warm_up),
        "most_runs": reader.number("target.most_runs", form.most_runs),
        "disturbed": reader.number("target.disturbed", form.disturbed.strip().removesuffix("%")),
        "longest": reader.number("target.longest", form.longest.strip().removesuffix("s")),
    }
    return {key: value for key, value in made.items() if value is not None}


def _what_if(form: RequestForm, counts: tuple[int, ...]) -> dict[str, Any]:
    """Return the parts that the panel does not show, without processor counts that no longer exist."""

    def kept(part: WhatIf | Speedups) -> Any:
        return part.model_copy(update={"processors": tuple(n for n in part.processors if n in counts)})

    return {"what_if": tuple(map(kept, form.what_if)), "speedups": kept(form.speedups)}


def _trace(form: RequestForm, reader: _Reader) -> dict[str, Any]:
    counts = form.trace_processors.strip()
    made = {
        "what": form.trace_what,
        "processors": reader.take("trace.processors", text.processors, counts) if counts else (),
        "sizes": form.trace_sizes,
        "runs": form.trace_runs,
        "begin": form.trace_begin,
        "end": form.trace_end,
        "region": form.trace_region.strip(),
        "interval": form.trace_interval,
        "limit": form.trace_limit,
    }
    return {key: value for key, value in made.items() if value is not None}


def _predict(form: RequestForm, reader: _Reader) -> dict[str, Any]:
    counts = form.predict_processors.strip()
    made = {
        "at": reader.take("predict.at", read_sizes, form.predict_at),
        "processors": reader.take("predict.processors", text.processors, counts) if counts else (),
        "counting": form.predict_counting,
        "verify": form.predict_verify,
    }
    return {key: value for key, value in made.items() if value is not None}


def _program(form: RequestForm, reader: _Reader) -> dict[str, Any]:
    made: dict[str, Any] = {"name": form.program, "stdin": form.stdin, "directory": form.directory, "cwd": form.cwd}
    if form.built:
        made |= {"executable": form.executable.strip(), "build": form.build.strip()}
        if not made["executable"]:
            reader.faults.append(Fault("name the program that the build makes", key="program.executable"))
            made["executable"] = "program"  # a placeholder, so that the rest can be checked
    elif not form.program:
        made["sources"] = form.sources
    if not form.program:
        made["args"] = reader.take("program.args", text.words, form.args)
    for key in ("cflags", "ldflags", "include"):
        made[key] = reader.take(f"program.{key}", text.words, getattr(form, key))
    made["args_at"] = _pairs(form.args_at, "program.args_at", reader, str)
    made["env"] = _pairs(form.env, "program.env", reader, str)
    if form.accept_exit.strip():
        made["accept_exit"] = reader.take("program.accept_exit", text.exit_codes, form.accept_exit)
    made["threads_per_process"] = reader.number("program.threads_per_process", form.threads_per_process)
    if form.ranks_per_node.strip():
        made["ranks_per_node"] = reader.number("program.ranks_per_node", form.ranks_per_node)
    return {key: value for key, value in made.items() if value is not None}


def _scaling(form: RequestForm, reader: _Reader) -> dict[str, Any]:
    if form.method == CUSTOM:
        return {"grow": _pairs(form.grow, "scaling.grow", reader, _given)}
    return {"method": form.method}


def _bound(bound: BoundForm, index: int, reader: _Reader) -> dict[str, Any]:
    made: dict[str, Any] = {"kind": bound.kind}
    readers: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
        "memory": (text.size, ()),
        "time": (text.duration, ()),
        "efficiency": (text.real, (bound_words("efficiency").value,)),
        "speed": (text.real, (f"{bound_words('speed').value}, like {bound_words('speed').start}",)),
    }
    if bound.kind in readers:
        take, more = readers[bound.kind]
        value = reader.take(f"bound.{index}.value", take, bound.value, *more)
        # A value that cannot be read is already an error; the model must not add "needs a value" to it.
        made["value"] = 0.5 if value is None else float(value)
    if bound.kind in SEARCHED:
        share = reader.number(f"bound.{index}.tolerance", bound.tolerance)
        tries = reader.number(f"bound.{index}.max_runs", bound.max_runs)
        made |= {key: v for key, v in (("tolerance", share), ("max_runs", tries)) if v is not None}
    return made


def _pairs(pairs: Pairs, key: str, reader: _Reader, take: Callable[[str], Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, typed in pairs:
        word = name.strip()
        if not word:
            if typed.strip():
                reader.faults.append(Fault(f"'{typed.strip()}' needs a name beside it", key=key))
            continue
        if word in made:
            reader.faults.append(Fault(f"'{word}' appears twice", key=f"{key}.{word}"))
        value = reader.take(f"{key}.{word}", take, typed)
        if value is not None:
            made[word] = value
        elif key == "parameters":
            made[word] = 1  # a placeholder, so that only this field is reported
    return made


def _given(typed: str) -> str:
    if not typed.strip():
        raise ValueError("a value was expected")
    return typed.strip()


def of_request(request: Request, program: Program | None = None) -> RequestForm:
    """Return the form that reads back as *request*; *program* supplies parameters that the request omits."""
    named: dict[str, Any] = dict(program.parameters()) if program is not None else {}
    named |= request.parameters
    choice = request.program
    return RequestForm(
        title=request.title,
        program=choice.name,
        sources=choice.sources,
        built=bool(choice.executable),
        build=choice.build,
        executable=choice.executable,
        args=text.words_text(choice.args if choice.args is not None else program.args if program else ()),
        args_at=tuple((str(count), words) for count, words in choice.args_at.items()),
        cflags=text.words_text(choice.cflags),
        ldflags=text.words_text(choice.ldflags),
        include=text.words_text(choice.include),
        env=tuple(choice.env.items()),
        stdin=choice.stdin,
        accept_exit=", ".join(map(str, choice.accept_exit)),
        threads_per_process=str(choice.threads_per_process),
        ranks_per_node=str(choice.ranks_per_node or ""),
        directory=choice.directory,
        cwd=choice.cwd,
        parameters=tuple((name, text.values_text(value)) for name, value in named.items()),
        method=CUSTOM if request.scaling.grow else request.scaling.method,
        grow=tuple(request.scaling.grow.items()),
        machine=request.machine.name,
        machine_path=request.machine.path,
        overrides=tuple(request.machine.overrides.items()),
        processors=text.processors_text(request.processors),
        **_target_form(request.target),
        bounds=tuple(map(_bound_form, request.bound)),
        regions=request.collect.regions,
        classes=request.collect.classes,
        sample=request.collect.sample,
        monitor=request.collect.monitor,
        lines=request.collect.lines,
        detail=request.collect.detail,
        repetitions=str(request.repetitions),
        reference=request.reference,
        verify=request.verify,
        time_s=text.duration_text(request.limits.time_s),
        memory_bytes=text.size_text(request.limits.memory_bytes),
        output_bytes=text.size_text(request.limits.output_bytes),
        schedule=request.schedule,
        compare=_compare_text(request.schedules.compare),
        advise=request.schedules.advise,
        timed=request.timed,
        work=request.work,
        what_if=request.what_if,
        speedups=request.speedups,
        origin=request.origin,
        **_trace_form(request.trace),
        **_predict_form(request.predict),
        **space_form.of_space(request.space),
    )


def _target_form(choice: TargetChoice) -> dict[str, Any]:
    return {
        "target": choice.name,
        "target_settings": tuple(choice.settings.items()),
        "until": f"{as_read(choice.until)} %" if choice.until else "",
        "pin": choice.pin,
        "warm_up": str(choice.warm_up),
        "most_runs": str(choice.most_runs),
        "disturbed": f"{as_read(choice.disturbed)} %",
        "longest": f"{as_read(choice.longest)} s",
    }


def _compare_text(names: Sequence[str]) -> str:
    return ("; " if any("," in name or "=" in name for name in names) else ", ").join(names)


def _trace_form(trace: TraceChoice | None) -> dict[str, Any]:
    if trace is None:
        return {}
    return {
        "trace": True,
        "trace_what": trace.what,
        "trace_processors": text.processors_text(trace.processors),
        "trace_sizes": trace.sizes,
        "trace_runs": trace.runs,
        "trace_begin": trace.begin,
        "trace_end": trace.end,
        "trace_region": trace.region,
        "trace_interval": trace.interval,
        "trace_limit": text.size_text(trace.limit),
    }


def _predict_form(choice: Prediction | None) -> dict[str, Any]:
    if choice is None:
        return {}
    return {
        "predict": True,
        "predict_at": sizes_text(choice.at),
        "predict_processors": text.processors_text(choice.processors),
        "predict_counting": choice.counting,
        "predict_verify": choice.verify,
    }


def _bound_form(bound: Bound) -> BoundForm:
    writers: dict[str, Callable[[float], str]] = {
        "memory": text.size_text,
        "time": text.duration_text,
        "efficiency": as_read,
        "speed": as_read,
    }
    value = "" if bound.value is None else writers[bound.kind](bound.value)
    return BoundForm(bound.kind, value, as_read(bound.tolerance), str(bound.max_runs))


def for_program(name: str, program: Program, before: RequestForm | None = None) -> RequestForm:
    """Return the default request of a shipped program; settings of the host are kept from *before*."""
    body = program.request.model_dump()
    body["parameters"] = program.parameters() | body["parameters"]
    form = of_request(Request.model_validate(body | {"program": {"name": name}, "verify": True}), program)
    return form if before is None else _with_host(form, before)


def for_sources(sources: tuple[str, ...], before: RequestForm | None = None) -> RequestForm:
    """Return the initial request for the user's own sources."""
    form = RequestForm(sources=sources)
    return form if before is None else _with_host(form, before)


def for_build(executable: str, before: RequestForm | None = None) -> RequestForm:
    """Return the initial request for a program made by the user's own build."""
    directory = os.path.dirname(executable)  # noqa: PTH120 - "" stays ""
    form = RequestForm(built=True, executable=executable, directory=directory)
    return form if before is None else _with_host(form, before)


def _with_host(form: RequestForm, before: RequestForm) -> RequestForm:
    from dataclasses import replace

    return replace(form, time_s=before.time_s, memory_bytes=before.memory_bytes, output_bytes=before.output_bytes)
