"""Completion-only commands: the shell waits while it completes a word, and the real commands import the analyses.

A wheel contains ``words.json``, written when it is built (``hatch_build.py``). In a checkout the first completion after
a source change generates the words and caches them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

import scalegraph

_FILE: Final = Path(__file__).with_name("words.json")
_HELP: Final = 60  # characters beside a word


@cache
def words() -> Mapping[str, Any]:
    """Return ``commands``, ``views``, ``quantities`` and ``formats`` from `making`."""
    path = _FILE if _FILE.exists() else _of_sources()
    found: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def _of_sources() -> Path:
    """Return the file of words in the cache that was made of these sources."""
    from scalegraph.runtime.cache import cache_root, get_or_make

    def make(directory: Path) -> None:
        from scalegraph.cli.completion import making

        (directory / _FILE.name).write_text(json.dumps(making.words()), "utf-8")

    package = Path(scalegraph.__file__).parent
    times = sorted((str(path), path.stat().st_mtime_ns) for path in package.rglob("*.py"))
    key = hashlib.sha256(repr(times).encode()).hexdigest()[:16]
    return get_or_make(cache_root() / "words" / key, make) / _FILE.name


def command(name: str) -> click.Command | None:
    """Return a stub that completes like the command *name*; None if there is none."""
    found = words()["commands"].get(name)
    return None if found is None else _command(name, found)


def items(names: Mapping[str, str], incomplete: str) -> list[CompletionItem]:
    """Return the *names* that begin with *incomplete*, with their descriptions."""
    return [CompletionItem(name, help=_short(text)) for name, text in names.items() if name.startswith(incomplete)]


def files(incomplete: str) -> CompletionItem:
    """Return the item that lets the shell complete files; it must come first, as shells drop items before it."""
    return CompletionItem(incomplete, type="file")


def _short(text: str) -> str:
    first = re.split(r"[.;:](?: |$)", text)[0]
    return first if len(first) <= _HELP else first[: _HELP - 1].rstrip() + "…"


def _command(name: str, found: Mapping[str, Any]) -> click.Command:
    params: list[click.Parameter] = [_option(one) for one in found["options"]]
    params += [_Argument(one) for one in found["arguments"]]
    settings = {"help_option_names": ["-h", "--help"], "ignore_unknown_options": True}
    if "commands" not in found:
        return click.Command(name, params=params, help=found["help"], context_settings=settings)
    inside = {sub: _command(sub, each) for sub, each in found["commands"].items()}
    return click.Group(name, inside, params=params, help=found["help"], invoke_without_command=True)


class _Option(click.Option):
    """An option whose values are of a kind known to `_values`."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self.kind: str = found.get("kind", "")
        self.choices: Sequence[str] = found.get("choices", ())
        flag = {"is_flag": True} if found.get("flag") else {}
        names = [f"{'/'.join(found['names'])}"] if "/" in "".join(found["names"]) else found["names"]
        super().__init__(
            [*names, "x" + re.sub(r"\W", "_", found["names"][0])],
            multiple=found.get("multiple", False),
            help=found["help"],
            expose_value=True,
            **flag,
        )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the matching values."""
        return _values(self.kind, self.choices, ctx, incomplete)


def _option(found: Mapping[str, Any]) -> click.Option:
    return _Option(found)


class _Argument(click.Argument):
    """An argument whose values are of a kind known to `_values`."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self.kind: str = found.get("kind", "")
        super().__init__([found["name"]], nargs=found.get("nargs", 1), required=False)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the matching values."""
        return _values(self.kind, (), ctx, incomplete)


def _values(kind: str, choices: Sequence[str], ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Return the completions of *incomplete*: one of *choices*, a file, a directory, or a name of that *kind*."""
    if choices:
        return [CompletionItem(one) for one in choices if one.startswith(incomplete)]
    if kind in ("file", "dir"):
        return [CompletionItem(incomplete, type=kind)]
    if kind in ("view", "quantity"):
        return items(_of_subject(words()["views" if kind == "view" else "quantities"], ctx), incomplete)
    if kind == "views":
        before, comma, last = incomplete.rpartition(",")
        return [
            CompletionItem(f"{before}{comma}{one.value}") for one in items(_of_subject(words()["views"], ctx), last)
        ]
    if kind == "option":
        chosen = words()["views"].get(_given(ctx, "--view"), {}) or words()["quantities"].get(_given(ctx, "--what"), {})
        return items({f"{name}=": text for name, text in chosen.get("options", {}).items()}, incomplete)
    if kind in ("machine", "program"):
        return [files(incomplete), *items(_shipped(f"{kind}s"), incomplete)]
    return items(words()["formats"], incomplete) if kind == "format" else []


def _given(ctx: click.Context, option: str) -> str:
    """Return the value already given for *option* on the command line."""
    for param in ctx.command.params:
        if option in param.opts:
            return str(ctx.params.get(param.name or "") or "")
    return ""


def _of_subject(names: Mapping[str, Mapping[str, Any]], ctx: click.Context) -> dict[str, str]:
    """Return the *names* that apply to the files already given: those for traces, or for studies."""
    given = " ".join(str(value) for value in (*ctx.params.values(), *ctx.args))  # words not parsed yet
    wanted = "trace" if ".sgtrace" in given else "study" if ".sgstudy" in given else ""
    return {name: one["help"] for name, one in names.items() if wanted in ("", one["subject"])}


def _shipped(kind: str) -> dict[str, str]:
    """Return the names of the shipped machines or programs."""
    from scalegraph.base.resources import resource_dir

    return {path.stem: "" for path in sorted(resource_dir(kind).glob("*.toml"))}
