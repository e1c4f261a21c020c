"""Every option named in a message exists in the command that prints the message."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import pytest

from scalegraph.base.errors import InputError
from scalegraph.cli import mapping_words, study_input, switch_words
from scalegraph.cli.main import COMMANDS, cli, run
from scalegraph.measurements.mapping import Question

pytestmark = pytest.mark.slow

ROOT: Final = Path(study_input.__file__).parents[1]
SWITCH: Final = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
# its messages are those of that command
ANOTHER: Final = re.compile(r"scalegraph (import|simulate|measure|schedules) [^`]*")
READERS: Final = ("analyze", "matrix", "export", "report", "compare", "advise")
ASSERTING: Final = ("analyze", "simulate", "run", "report")
# module (or path prefix) -> the commands that print its messages; the longest match counts
SAID_BY: Final[dict[str, tuple[str, ...]]] = {
    "cli/asserting.py": ASSERTING,
    "cli/calibrate.py": ("machines calibrate",),
    "cli/checks.py": ("demo",),
    "cli/cluster/elsewhere.py": ("run",),
    "cli/importing.py": ("import",),
    "cli/choosing/": ("choose",),
    "cli/simulating/": ("simulate", "measure"),
    "cli/measuring/": ("measure",),
    "cli/openmp.py": ("simulate",),
    "request/model/commands.py": ("measure",),
    "request/model/program_choice.py": ("measure", "simulate"),
    "request/run/predicting_graphs.py": ("predict",),
    "views/empty_states.py": ("measure",),
    "link/commands/": ("measure",),
    "cli/standard_input.py": ("simulate",),
    "cli/machines.py": ("machines", "machines list", "machines show"),
    "cli/predict/": ("predict",),
    "request/run/batches.py": ("run", "collect"),
    "request/run/predicting.py": ("predict",),
    "cli/spreadsheets.py": ("analyze", "matrix", "export", "compare"),
    "cli/mapping_words.py": READERS,
    "cli/study_input.py": READERS,
    "cli/switch_words.py": READERS,
    "cli/trace.py": ("trace", "trace info", "trace convert"),
    "cli/tracing.py": ("simulate",),
    "cli/trusting.py": ("run", "advise"),
    "cli/what_if.py": ("simulate",),
    "cli/window.py": ("demo",),
    "request/model/": ("simulate",),  # options declared with the values of requests
    "request/results/assertions.py": ASSERTING,
    "request/consent/": ("run", "advise"),
    "request/results/data.py": ("matrix", "export", "compare"),
    "request/results/selecting.py": ("analyze", "matrix", "export", "report", "compare", "advise", "choose"),
    "request/imports/sets.py": ("import",),  # readers: see `worded` below
    "request/results/quantities.py": ("analyze",),
    "request/results/trace_quantities.py": ("analyze",),
    "measurements/": ("import",),  # readers: see `worded` below
    "views/study/choosing/": ("export", "choose"),
    "views/view.py": ("export", "compare"),
}
# options of other programs: those that wrote the input, and compilers
OTHER_TOOLS: Final = ("measurements/readers/", "measurements/foreign.py", "request/consent/options.py")
ANYWHERE: Final = {"--help"}


def commands(group: click.Group = cli, before: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context) if before else COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        yield f"{before}{name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")


@pytest.fixture(scope="module")
def taken() -> dict[str, set[str]]:
    return {
        name: {word for option in command.params for word in (*option.opts, *option.secondary_opts)}
        for name, command in commands()
    }


def messages(path: Path) -> Iterator[str]:
    """Yield every string of a module except its docstrings."""
    tree = ast.parse(path.read_text())
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def named() -> Iterator[tuple[str, str]]:
    """Yield (module, text) for every text that names an option."""
    for part in ("cli", "request", "measurements", "traces", "views"):
        for path in sorted((ROOT / part).rglob("*.py")):
            module = path.relative_to(ROOT).as_posix()
            if not module.startswith((*OTHER_TOOLS, "cli/completion/")):
                yield from ((module, text) for text in messages(path) if SWITCH.search(text))


def sayers(module: str) -> tuple[str, ...]:
    found = [start for start in SAID_BY if module.startswith(start)]
    return SAID_BY[max(found, key=len)] if found else (Path(module).stem,)


def test_the_switches_of_messages_are_those_of_the_commands_that_say_them(taken: dict[str, set[str]]) -> None:
    seen = 0
    for module, text in named():
        for advice in ANOTHER.finditer(text):
            others = set(SWITCH.findall(advice[0]))
            assert others <= taken[advice[1]], (module, text)
            seen += len(others)
        known = set().union(*(taken.get(name, set()) for name in sayers(module))) | ANYWHERE
        here = set(SWITCH.findall(ANOTHER.sub("", text)))
        assert here <= known, (module, text, here - known)
        seen += len(here)
    assert seen > 200


@pytest.mark.parametrize("name", READERS)
def test_what_is_said_of_measurements_is_worded_for_the_command_that_reads_them(
    name: str, taken: dict[str, set[str]]
) -> None:
    command = dict(commands())[name]
    own = switch_words.taken(command, study_input._switched)
    assert {"unit", "total"} <= own
    seen = 0
    for module, text in named():
        if not module.startswith(("measurements/", "request/imports/sets.py")):
            continue
        said = switch_words.worded(text, own, mapping_words.ALL)
        for found in SWITCH.findall(ANOTHER.sub("", said)):
            assert found == "--mapping" or found[2:] in own, (text, said)
            assert found in taken[name]
        seen += 1
    assert seen > 20


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("say --unit s", "say --unit s"),
        (
            "say --processors 'a b', or --processors p*q for their product",
            "say --mapping processors='a b', or --mapping processors=p*q for their product",
        ),
        ("--time METRIC names one", "--mapping time=METRIC names one"),
        ("--column NAME=metric", "scalegraph import --column NAME=metric"),
        ("`scalegraph import --list-formats` says more", "`scalegraph import --list-formats` says more"),
        ("--summed says another", "--mapping summed says another"),
        ("say --decimal , or --decimal .", "say --mapping decimal=, or --mapping decimal=."),
        ("--cell 2=skip its row", "--mapping cell=2=skip its row"),
        ("--cell '2:time [s]=none' leaves", "--mapping cell='2:time [s]=none' leaves"),
    ],
)
def test_switches_are_reworded(text: str, said: str) -> None:
    assert switch_words.worded(text, {"unit"}, {"processors", "time", "summed", "unit", "decimal", "cell"}) == said


def test_an_option_of_import_alone_comes_with_the_file() -> None:
    assert switch_words.worded("--format table", {"unit"}, {"unit"}, Path("-a b.csv")) == (
        "scalegraph import './-a b.csv' --format table"
    )


def test_every_word_of_a_mapping_is_taken() -> None:
    words = ["unit=ms", "rate=a", "as=work_ops=b", "decimal=,", "cell=2=skip", "cell=3:a=b=none", "header=3"]
    said, table = mapping_words.parsed([*words, "delimiter=tab", "names=a, b", "column=x=skip"])
    assert said == {"unit": "ms", "rate": "a", "columns": {"work_ops": "b"}}
    assert mapping_words.choices(table).model_dump(exclude_defaults=True) == {
        "decimal": ",",
        "cells": {"2": "skip", "3:a=b": "none"},
        "header": 3,
        "delimiter": "\t",
        "names": ("a", "b"),
        "columns": {"x": "skip"},
    }
    with pytest.raises(InputError) as error:
        mapping_words.parsed(["decimal=;", "header=x", "delimiter=ab", "cel=2"])
    assert len(error.value.faults) == 4


@pytest.mark.parametrize(
    ("key", "choices", "word"),
    [
        ("unit", ("s",), "unit=s"),
        ("decimal", (",", "."), "decimal=,"),
        ("columns.a b", ("metric",), "column=a b=metric"),
        ("clock_hz", (), "clock=.."),
    ],
)
def test_guesses_are_words_of_a_mapping(key: str, choices: tuple[str, ...], word: str) -> None:
    assert mapping_words.answer(Question(key, "", "", choices)) == word


@pytest.mark.parametrize("name", ["analyze", "matrix", "report"])
def test_a_command_sends_to_import_for_what_it_does_not_take(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "words.csv"
    path.write_text("cores,threads,time_s\n1,1,8.0\n2,1,4.2\n2,2,2.3\n4,1,2.5\n")
    more = {"report": ["-o", "r.html"], "analyze": ["--what", "speedup"]}.get(name, [])
    assert run([name, str(path), *more]) != 0
    said = capsys.readouterr().err
    assert "--mapping processors=" in said
    assert not re.search(r"say --processors", said)
    assert run([name, str(path), "--mapping", "processors=cores*threads", *more]) in (0, 1)
    assert "no such option" not in capsys.readouterr().err
