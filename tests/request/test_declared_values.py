"""Each value of a request is declared once: faults, options and the reference are derived from the declaration."""

import sys
from pathlib import Path
from typing import get_args

import click
import pytest
from pydantic import BaseModel

from scalegraph.base import toml
from scalegraph.base.asked import Declared, asked, declared, every, option
from scalegraph.base.errors import InputError
from scalegraph.cli.measuring.command import measure
from scalegraph.cli.simulate import simulate
from scalegraph.request.model.parts import BOUNDS, BoundKind
from scalegraph.request.model.request import Request
from scalegraph.request.model.values import request_value

DOCS = Path(__file__).parents[2] / "docs"
OWN = {
    "sources",
    "openmp",
    "task_queue",
    "show_output",
    "output_by_rank",
    "as_json",
    "study",
    "trace_directory",
    "statements",
    "junit",
    "grow",  # parameters with scaling.grow
    "hold",  # a bound
    "on",  # --on: its workers do the measuring
    "ideal_network",  # shorthand for an ideal of --what-if
}  # no values


def test_every_value_of_a_request_is_declared_with_label_help_and_choices() -> None:
    found = dict(every(Request))
    assert len(found) > 60
    assert [key for key, said in found.items() if said is None or not said.label or not said.help] == []
    assert [key for key, said in found.items() if said and said.help.endswith(".")] == []
    for key, choices in (("bound.kind", get_args(BoundKind)), ("collect.monitor", ("none", "software", "hardware"))):
        assert set(request_value(key).choices) == set(choices)
    assert set(BOUNDS) == set(get_args(BoundKind))


def test_every_option_that_sets_a_value_has_the_help_of_its_declaration() -> None:
    context = click.Context(measure)  # it has all options of simulate, and those of commands
    options = {name: one for one in measure.get_params(context) if isinstance(one, click.Option) for name in one.opts}
    declarations = [said for _, said in every(Request) if said is not None and said.option is not None]
    assert len(declarations) > 25
    used = set()
    for said in declarations:
        assert said.option is not None
        for choice, flag in said.option.switches.items():
            assert options[flag].help == f"{said.option.values[choice]}.", said.key
            used.add(options[flag].name)
        if said.option.switches:
            continue
        found = options[said.option.flag]
        assert (found.help, list(found.opts)) == (said.option_help(), list(said.option.names)), said.key
        assert said.span() in str(found.help)
        used.add(found.name)
    others = {one.name for one in options.values()} - used - OWN - {"_click_default_help"}
    assert others == set()  # an undeclared option sets no value of the request


@pytest.mark.parametrize("key", [key for key, said in every(Request) if said is not None and said.span()])
def test_a_number_out_of_range_is_refused_with_the_declared_range(key: str) -> None:
    said = request_value(key)
    wrong = said.least if said.above else (said.least or 0) - 1
    assert wrong is not None
    value: object = [int(wrong)] if key.endswith(("processors", "accept_exit")) else wrong
    for name in reversed(key.split(".")[1:]):
        value = {name: value}
    top = key.split(".")[0]
    value = [value] if top == "what_if" else value
    program = {"name": "billiard"} | (value if top == "program" and isinstance(value, dict) else {})
    with pytest.raises(InputError) as refused:
        toml.validate(Request, {top: value, "program": program}, "")
    assert any(said.span() in fault.message for fault in refused.value.faults), refused.value.faults


class Oven(BaseModel):
    """A model with a value of each kind."""

    heat: float = asked("How hot it is", label="Heat", unit="K", gt=0, le=500, default=293, option=option("--heat"))
    store: int = asked("What it holds", label="Store", unit="B", ge=1024, lt=2**20, default=4096)


@pytest.mark.slow
def test_a_value_that_is_added_shows_in_the_fault_the_option_and_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    heat = declared(Oven, "heat")
    assert isinstance(heat, Declared)
    assert heat.option_help() == "How hot it is (more than 0, at most 500 K; default: 293)."
    with pytest.raises(InputError) as refused:
        toml.validate(Oven, {"heat": 0, "store": 2**20}, "oven.toml")
    assert [fault.message for fault in refused.value.faults] == [
        "expected more than 0, at most 500 K; got 0",
        "expected at least 1 KiB, less than 1 MiB; got 1048576",
    ]
    pytest.importorskip("mkdocs")
    monkeypatch.syspath_prepend(str(DOCS))
    pages = __import__("site_pages")
    page = pages.keys(Oven, "Oven", "")
    sys.modules.pop("site_pages")
    assert "How hot it is (option `--heat`)" in page
    assert "| more than 0, at most 500 K |" in page


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--timeout", "0"), "'--timeout': expected more than 0 s, at most 720 h; got '0'"),
        (("--timeout", "1e9"), "'--timeout': expected more than 0 s, at most 720 h; got '1e9'"),
        (("--memory", "100K"), "'--memory': expected at least 64 MiB; got '100K'"),
        (("--accept-exit", "256"), "'--accept-exit': expected 1 to 255; got '256'"),
        (("--threads-per-process", "0"), "'--threads-per-process': expected 1 to 4096 threads; got '0'"),
        (("--accept-exit", "x"), "'--accept-exit': a whole number was expected, got 'x'"),
    ],
)
def test_the_command_line_refuses_what_the_request_would(words: tuple[str, ...], part: str) -> None:
    with pytest.raises(click.UsageError) as refused:
        simulate.make_context("simulate", ["prog.c", *words])
    assert part.partition(": ")[2] in refused.value.format_message()
    assert words[0] in refused.value.format_message()


def test_sizes_and_times_of_the_command_line_have_any_unit() -> None:
    context = simulate.make_context("simulate", ["prog.c", "--timeout", "2min", "--memory", "512M"])
    assert (context.params["limits_time_s"], context.params["limits_memory_bytes"]) == (120.0, 512 * 2**20)
    usual = simulate.make_context("simulate", ["prog.c"]).params
    assert (usual["limits_time_s"], usual["limits_memory_bytes"]) == (600.0, 4 * 2**30)
