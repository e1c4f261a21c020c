"""Generate the pages of the site's reference from the code, whenever MkDocs builds the site (a hook in mkdocs.yml).

The commands' page comes from their options, the keys of machine and request files from the models that check these
files, and the functions of the Python API and the analysis from their docstrings.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from scalegraph import analyze, api, views
from scalegraph.base.asked import Declared, declared, models
from scalegraph.cli.main import COMMANDS, cli
from scalegraph.machine.fields import unit_of
from scalegraph.machine.model import Machine
from scalegraph.request.model.request import Request
from scalegraph.views.families import SHOW_AS

sys.path.insert(0, str(Path(__file__).parent))

from man_pages import CODES, explanation, value_name


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages of the reference; MkDocs calls this function in each build."""
    for name, text in pages().items():
        files.append(File.generated(config, f"reference/{name}", content=text))
    return files


def pages() -> dict[str, str]:
    """Return the Markdown of each page of the reference, by file name."""
    return {
        "commands.md": commands(),
        "machine-keys.md": keys(Machine, "Keys of a machine file", MACHINE),
        "request-keys.md": keys(Request, "Keys of a request file", REQUEST),
        "python.md": python(),
        "views.md": shown(),
    }


def _cell(text: str) -> str:
    """Return *text* escaped for a table cell."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else ""


# ---- commands ----


def commands() -> str:
    """Return the page of all commands with their options."""
    lines = ["# Commands\n", "Every command has `--help` and a manual page.\n"]
    lines += ["| exit code | meaning |", "| ---: | --- |", *(f"| {code} | {text} |" for code, text in CODES), ""]
    context = click.Context(cli)
    for name in COMMANDS:
        found = cli.get_command(context, name)
        assert found is not None
        lines += _command(f"scalegraph {name}", found)
    return "\n".join(lines).rstrip("\n") + "\n"


def _command(path: str, command: click.Command) -> Iterator[str]:
    words = [path, "[OPTIONS]"]
    words += [
        param.metavar or str(param.name).upper() + ("..." if param.nargs == -1 else "")
        for param in command.params
        if isinstance(param, click.Argument)
    ]
    if isinstance(command, click.Group):
        words.append(command.subcommand_metavar or "COMMAND")
    yield f"## {path}\n"
    yield f"    {' '.join(words)}\n"
    for part in (command.help or "").strip().split("\n\n"):
        yield _cell(part) + "\n"
    options = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    if options:
        yield from ("| option | meaning |", "| --- | --- |")
        for option in options:
            names = ", ".join((*option.opts, *option.secondary_opts))
            shown = names if option.is_flag else f"{names} {value_name(option)}"
            yield f"| {_code(shown)} | {_cell(explanation(option))} |"
        yield ""
    if isinstance(command, click.Group):
        for name, inside in command.commands.items():
            yield from _command(f"{path} {name}", inside)


# ---- keys of files ----

MACHINE = """\
A machine is a TOML file; [MACHINES.md](../MACHINES.md) explains machines. `scalegraph machines show NAME` prints its
values with their origin; `--set KEY=VALUE` changes a value for a run. `cache.0` is the first cache level. A network
has the keys of its kind. A cluster's file can take its nodes from another machine with `nodes.machine` (a name, or a
path relative to the cluster's file) and `nodes.count`. It then contains only `[interconnect]`, `[messages]` and other
values that differ; see [INTERCONNECTS.md](../INTERCONNECTS.md#nodes).
"""
REQUEST = """\
A request is a TOML file that `scalegraph run` and the window execute. Only the keys marked *required* are mandatory.
"""


def keys(model: type[BaseModel], title: str, words: str) -> str:
    """Return the page of all keys of the files that *model* checks."""
    return "\n".join([f"# {title}\n", words, *_section(model, "")]).rstrip("\n") + "\n"


def _section(model: type[BaseModel], prefix: str, kind: str = "") -> Iterator[str]:
    rows: list[str] = []
    deeper: list[tuple[str, type[BaseModel], str]] = []
    for name, field in model.model_fields.items():
        if field.exclude or name == "origin":
            continue
        inside = list(models(field.annotation))
        listed = "list[" in str(field.annotation) or "tuple[" in str(field.annotation)
        for one in inside:
            found = one.model_fields.get("kind")
            kinds = get_args(found.annotation) if found is not None and len(inside) > 1 else ()
            here = f"{prefix}{name}" + (".0" if listed and inside else "")
            deeper.append((here, one, "" if not kinds else " or ".join(f"`{k}`" for k in kinds)))
        if not inside:
            unit = unit_of(model, name)
            asked = declared(model, name)
            span = _range(field) if asked is None else asked.span()
            said = _cell(field.description or "") + ("" if asked is None else _elsewhere(asked))
            cells = (f"`{name}`", _cell(_type(field.annotation)), unit, span, _default(field), said)
            rows.append(f"| {' | '.join(cells)} |")
    if rows:
        if prefix:
            yield f"## {prefix.rstrip('.')}{f', kind {kind}' if kind else ''}\n"
        about = inspect.getdoc(model)
        if about:
            yield about + "\n"
        yield from ("| key | type | unit | range | default | meaning |", "| --- | --- | --- | --- | --- | --- |", *rows)
        yield ""
    for here, one, its in deeper:
        yield from _section(one, f"{here}.", its)


def _elsewhere(asked: Declared) -> str:
    """Return the option that sets the value, in parentheses."""
    return f" (option {_code(asked.option.flag)})" if asked.option else ""


_PLAIN = {"str": "text", "int": "whole number", "float": "number", "bool": "true or false"}


def _type(annotation: Any) -> str:
    if isinstance(annotation, type) and not get_args(annotation):
        return _PLAIN.get(annotation.__name__, annotation.__name__)
    name = str(getattr(annotation, "__origin__", ""))
    parts = get_args(annotation)
    if (
        "Literal" in str(annotation)
        and not any(get_args(part) for part in parts)
        and "Literal[" in repr(annotation)[:20]
    ):
        return ", ".join(map(str, parts))
    if hasattr(annotation, "__metadata__"):
        return _type(parts[0])
    if "tuple" in name or "list" in name:
        return f"list of {_type(parts[0])}"
    if "dict" in name:
        return f"table of {_type(parts[1])}"
    return " or ".join(_type(part) for part in parts if part is not type(None))


def _range(field: FieldInfo) -> str:
    ends: dict[str, Any] = {}
    for rule in field.metadata:
        for word in ("ge", "gt", "le", "lt"):
            if (value := getattr(rule, word, None)) is not None:
                ends[word] = value
    least, most = (ends.get(word, ends.get(open_)) for word, open_ in (("ge", "gt"), ("le", "lt")))
    if least is not None and most is not None:
        return f"{'above ' if 'gt' in ends else ''}{least:,} .. {'below ' if 'lt' in ends else ''}{most:,}"
    if least is not None:
        return f"{'above' if 'gt' in ends else 'at least'} {least:,}"
    return "" if most is None else f"{'below' if 'lt' in ends else 'at most'} {most:,}"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "*required*"
    value = field.get_default(call_default_factory=True)
    if value in ("", None, (), {}) or (isinstance(value, list) and not value):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return _code(str(list(value)) if isinstance(value, tuple) else str(value))


# ---- views ----


def shown() -> str:
    """Return the page of all views: what each shows, what it needs, and its options."""
    lines = ["# Views\n", "`scalegraph export --view NAME` writes a view; in the window, use *Add view*."]
    lines += ["A view in bold can show its data in several ways: choose one with `show_as`, or by its own name.\n"]
    for subject, heading in (("study", "Views of a study"), ("trace", "Views of a trace")):
        lines += [f"## {heading}\n", "| view | shows | if it is empty | options |", "| --- | --- | --- | --- |"]
        for view in views.listed(subject).values():
            if view.family is None:
                lines.append(_row(_cell(view.title), view))
                continue
            lines.append(f"| **{_cell(view.title)}** | {_cell(view.description)} | | `{SHOW_AS}` |")
            lines += [_row(_cell(f"{view.family.choice_of(one.name)}: {one.title}"), one) for one in view.members]
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def _row(title: str, view: views.View) -> str:
    options = ", ".join(_code(option.name) for option in view.options)
    needs = _cell(" ".join(view.conditions))
    return f"| {title}<br>{_code(view.name)} | {_cell(view.description)} | {needs} | {options} |"


# ---- Python ----


def python() -> str:
    """Return the page of all functions of the Python API and of the analysis."""
    lines = ["# Functions of the Python API\n", "[API.md](../API.md) is the guide.\n", "## scalegraph\n"]
    for name in sorted(api.__all__):
        thing = getattr(api, name)
        if inspect.isclass(thing):
            lines += _class(name, thing)
        else:
            lines += _function(f"scalegraph.{name}", thing, "###")
    for module in sorted(_modules(), key=lambda found: found.__name__):
        functions = [
            (name, thing)
            for name, thing in vars(module).items()
            if inspect.isfunction(thing) and thing.__module__ == module.__name__ and not name.startswith("_")
        ]
        if functions:
            lines += [f"## {module.__name__}\n", *_text(inspect.getdoc(module) or "")]
            for name, thing in functions:
                lines += _function(name, thing, "###")
    return "\n".join(lines).rstrip("\n") + "\n"


def _modules() -> Iterator[Any]:
    for found in pkgutil.walk_packages(analyze.__path__, "scalegraph.analyze."):
        if "._" not in found.name:
            yield importlib.import_module(found.name)


def _class(name: str, thing: type) -> Iterator[str]:
    yield f"### scalegraph.{name}\n"
    yield from _text(inspect.getdoc(thing) or "")
    for member, inside in vars(thing).items():
        if member.startswith("_"):
            continue
        if isinstance(inside, property):
            yield f"#### {name}.{member}\n"
            yield from _text(inspect.getdoc(inside) or "")
        elif inspect.isfunction(inside):
            yield from _function(f"{name}.{member}", inside, "####")


def _function(name: str, thing: Any, level: str) -> Iterator[str]:
    yield f"{level} {name}\n"
    shown = re.sub(r"(?<=[ (\[|])'([^']*)'", r"\1", str(inspect.signature(thing)))
    shown = re.sub(r"\b[\w.]*\.(\w+)", r"\1", shown)
    yield f"```python\n{name.rpartition('.')[2]}{shown}\n```\n"
    yield from _text(inspect.getdoc(thing) or "")


def _text(text: str) -> Iterator[str]:
    """Yield a docstring as Markdown: examples as code blocks, ``literal`` and `name` as inline code."""
    for part in text.split("\n\n"):
        example = re.sub(r"^Examples?:\n", "", part)
        if example.lstrip().startswith(">>>"):
            yield f"```python\n{inspect.cleandoc(example)}\n```\n"
        elif part.strip():
            yield re.sub(r"``([^`]+)``", r"`\1`", part).replace("<", "&lt;") + "\n"
