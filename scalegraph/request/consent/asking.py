"""Code in a request that the user did not write here, as items to show and one fingerprint to approve."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.patterns import pattern
from scalegraph.base.text import one_line
from scalegraph.link.targets import named
from scalegraph.request.consent.options import risky_options
from scalegraph.request.consent.record import is_known, remember
from scalegraph.request.model import programs
from scalegraph.request.model.commands import program_contents
from scalegraph.request.model.resolve import Resolved, Target
from scalegraph.runtime.languages import LINKED

# Environment variables that make a loader, a shell, an interpreter or a compiler take code from elsewhere.
_LOADING: Final = pattern(
    r"(LD|DYLD)_.*|.*_PRELOAD|PATH|HOME|SHELL|ENV|BASH_.*|IFS|GCONV_PATH|LOCPATH|NLSPATH|GLIBC_.*|MALLOC_.*|TMPDIR"
    r"|(GCC|COMPILER|LIBRARY|C|CPLUS|OBJC|PKG_CONFIG)_?(EXEC_PREFIX|PATH|INCLUDE_PATH|COMPARE_DEBUG)|CPATH|CPLUS_.*"
    r"|(PYTHON|PERL|RUBY|NODE|LUA|JAVA|JDK|TCL|R)_?.*(PATH|LIB|OPT|OPTS|OPTIONS|STARTUP|HOME|INIT)|QEMU_.*|OMP_TOOL.*"
    r"|OMPI_.*|MPI.*|UCX_.*|HWLOC_.*|VK_.*|OCL_.*|EDITOR|PAGER|MAKEFLAGS|GIT_.*|SSH_.*"
)
_LARGEST: Final = 256 << 20  # bytes of a file whose content goes into the fingerprint; for larger ones size and time


@dataclass(frozen=True)
class Item:
    """One thing that runs or loads code: *what* it is in words, and its *text* as in the file."""

    what: str
    text: str

    def __str__(self) -> str:
        return f"{self.what}: {one_line(self.text)}"


@dataclass(frozen=True)
class Consent:
    """Something to approve. *source*: the file that it came from; *directory*: where it would run.

    *fingerprint*: digest of the command, options, environment, arguments and directories, and of the content of the
    executable, sources and files named in options. An approval holds for this fingerprint only.
    """

    source: str
    directory: str
    items: tuple[Item, ...]
    fingerprint: str

    def lines(self) -> list[str]:
        """Return the items in words, one per line, with control characters visible."""
        return [*map(str, self.items), f"in the directory: {one_line(self.directory)}"]

    def sentence(self) -> str:
        """Return everything as one sentence."""
        return f"runs code that was not written here ({'; '.join(self.lines())})"


class ConsentNeeded(InputError):  # noqa: N818 - reads as what it is in an except clause
    """Nothing was run, because *consent* was not given."""

    def __init__(self, consent: Consent, how: str = "--trust runs it") -> None:
        self.consent = consent
        super().__init__(Fault(f"{consent.sentence()}; nothing was run, {how}", file=consent.source))


def wanted(found: Resolved) -> Consent | None:
    """Return the parts of *found* that need approval before they run; None if none do, or they were approved here."""
    consent = _consent(found)
    return None if consent is None or is_known(consent.fingerprint) else consent


def approved(found: Resolved, consent: Consent | None, how: str = "--trust runs it") -> None:
    """Raise `ConsentNeeded` unless *found* may run, with *consent* as the user's answer; remember what may.

    Code that was typed, built or approved here needs no consent.
    """
    asked = _consent(found)
    if asked is not None and not is_known(asked.fingerprint) and asked.fingerprint != (consent and consent.fingerprint):
        raise ConsentNeeded(asked, how)
    if not _is_shipped(found) or asked is not None:
        remember(_fingerprint(found))


def _consent(found: Resolved) -> Consent | None:
    origin = found.request.origin
    if origin.kind == "here":
        return None
    items = (*_risks(found.target), *_elsewhere(found))
    if origin.kind == "study" and not _is_shipped(found):
        items = tuple(_program(found.target, items))  # nobody expects code in a study, so everything that runs is shown
    if not items:
        return None
    target = found.target
    return Consent(origin.name, str(_absolute(target.build_dir)), items, _fingerprint(found))


def _elsewhere(found: Resolved) -> Iterator[Item]:
    """Yield the other computer to which *found* sends its program."""
    choice = found.request.target
    if named(choice.name).away(choice.settings):
        yield Item("target", " ".join([choice.name, *(f"{key}={value}" for key, value in choice.settings.items())]))


def _risks(target: Target) -> Iterator[Item]:
    """Yield everything in *target* that runs or loads code, except its sources."""
    if target.build:
        yield Item("build command", target.build)
    if target.command:
        yield Item("command", shlex.join(target.args))
    if target.executable:
        yield Item("executable", target.executable)
    for name in target.sources:
        if Path(name).suffix in LINKED:
            yield Item("linked file", name)
    for word in risky_options(target.cflags):
        yield Item("compiler option", word)
    for word in risky_options(target.ldflags):
        yield Item("linker option", word)
    for name, value in target.env.items():
        if _LOADING.fullmatch(name):
            yield Item("environment", f"{name}={value}")


def _program(target: Target, risks: Iterable[Item]) -> Iterator[Item]:
    """Yield everything in *target* that runs, with *risks* first."""
    shown = list(risks)
    yield from shown
    if target.sources:
        yield Item("sources", shlex.join(target.sources))
    if target.args and not target.command:
        yield Item("arguments", shlex.join(target.args))
    for count, words in target.args_at.items():
        yield Item(f"arguments at N = {count}", shlex.join(words))
    for what, words in (("compiler options", target.cflags), ("linker options", target.ldflags)):
        if words:
            yield Item(what, shlex.join(words))
    if target.include:
        yield Item("directories of headers", shlex.join(target.include))
    seen = {item.text for item in shown}
    yield from (Item("environment", text) for n, v in target.env.items() if (text := f"{n}={v}") not in seen)


def _is_shipped(found: Resolved) -> bool:
    """Return whether the program is a shipped one, compiled from its shipped sources without added risks."""
    target = found.target
    if target.executable or target.build or target.command or any(_risks(target)):
        return False
    shipped = programs.directory().resolve()
    files = [_absolute(target.build_dir) / name for name in (*target.sources, *target.include)]
    return bool(target.sources) and all(path.resolve().is_relative_to(shipped) for path in files)


def _fingerprint(found: Resolved) -> str:
    target = found.target
    place = _absolute(target.build_dir)
    texts = {name: value for size in found.sweep for name, value in size.items() if isinstance(value, str)}
    words = (*target.cflags, *target.ldflags)
    named = [target.executable] if target.executable and not target.build else []
    named += [*target.sources, *(name for word in words for name in _file_names(word))]
    said = {
        "build": target.build,
        "executable": target.executable,
        "sources": target.sources,
        "directory": str(place),
        "cwd": str(_absolute(target.run_dir)),
        "args": target.args,
        "texts": sorted(texts.items()),
        "cflags": target.cflags,
        "ldflags": target.ldflags,
        "include": target.include,
        "env": sorted(target.env.items()),
        "stdin": str(target.stdin or ""),
        "contents": [_content(place / name) for name in named],
    }
    if target.command:
        said["command"] = program_contents(found)
    if away := [item.text for item in _elsewhere(found)]:
        said["target"] = away
    if target.args_at:
        said["args_at"] = [[str(count), *words] for count, words in sorted(target.args_at.items())]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def _file_names(word: str) -> Iterator[str]:
    """Return the parts of an option that may be file names: the word, and what follows ``=``, ``,`` or ``@``."""
    yield word
    yield from (part for part in re.split("[=,@]", word)[1:] if part)


def _content(path: Path) -> str:
    try:
        if path.is_file():
            about = path.stat()
            if about.st_size > _LARGEST:
                return f"{about.st_size} bytes of {about.st_mtime_ns}"
            return hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError):
        return "unreadable"
    return ""


def _absolute(path: Path) -> Path:
    return path.absolute()
