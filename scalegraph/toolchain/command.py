"""Parses a compiler's command line as gcc does: the request, the files and the options."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from scalegraph.runtime.languages import LINKED, PLAIN, Language, language_of

Mode = Literal["ask", "preprocess", "assemble", "compile", "link"]

# Options whose argument is the next word (those that may also be written in one word are repeated below).
TAKES_WORD: Final = frozenset((
    "-I", "-D", "-U", "-L", "-l", "-o", "-x", "-T", "-u", "-z", "-e", "-A", "-B", "-J", "-include", "-imacros",
    "-isystem", "-iquote", "-idirafter", "-iprefix", "-iwithprefix", "-isysroot", "-imultilib", "-MF", "-MT", "-MQ",
    "-Xlinker", "-Xpreprocessor", "-Xassembler", "-Xclang", "-aux-info", "-dumpbase", "-dumpdir", "-dumpbase-ext",
    "--param", "--sysroot", "-target", "-wrapper", "-specs", "-arch", "-h", "-R", "-rpath", "-soname", "-mllvm",
))  # fmt: skip
_PREPROCESS: Final = frozenset(("-E", "-M", "-MM"))
# These request information from the compiler itself.
_ASK: Final = ("-dump", "-print-", "--print-", "--version", "--help", "-###", "--target-help")
_X: Final[dict[str, Language]] = {
    "c": "c",
    "c++": "c++",
    "f77": "fortran",
    "f77-cpp-input": "fortran",
    "f95": "fortran",
    "f95-cpp-input": "fortran",
}
# The same for sources whose names do not say it.
_FORMS: Final = {
    "f77": ("-ffixed-form",),
    "f77-cpp-input": ("-ffixed-form", "-cpp"),
    "f95": ("-ffree-form",),
    "f95-cpp-input": ("-ffree-form", "-cpp"),
}
_RULES: Final = ("-MD", "-MM", "-MF", "-MT", "-MQ", "-MP")  # of make
_LIMIT: Final = 64  # nesting of response files, which may name each other


@dataclass(frozen=True)
class Input:
    """A file on the command line, at word *index* of `Command.rest`. *language* None: compiled or linked unchanged."""

    index: int
    file: str
    language: Language | None
    compiled: bool


@dataclass(frozen=True)
class Command:
    """The request of a command line.

    *rest*: all words except the mode and ``-o``; the *inputs* are among them; *options*: *rest* without the inputs and
    without linker options.
    """

    mode: Mode
    output: str
    rest: tuple[str, ...]
    inputs: tuple[Input, ...]
    options: tuple[str, ...] = field(default=())


def read_command(words: Sequence[str], compiler: Language = "c") -> Command:
    """Return the request in *words* (without the name of the *compiler*), with response files expanded."""
    expanded = list(_expanded(words, 0))
    mode: Mode = "link"
    output = ""
    rest: list[str] = []
    inputs: list[Input] = []
    options: list[str] = []
    forced: str | None = None
    order: dict[str, Mode] = {"-c": "compile", "-S": "assemble"}
    for option in with_arguments(expanded):
        word = option[0]
        if word in order and mode not in ("preprocess", "assemble"):
            mode = order[word]
        elif word in _PREPROCESS:
            mode = "preprocess"
            rest.append(word)
        elif word in order:
            pass
        elif word.startswith("-o") and not word.startswith(("-openmp", "-output")):
            output = option[1] if len(option) > 1 else word[2:]
        elif word.startswith("-x") and word[2:] in ("", "none", *_X):
            forced = option[1] if len(option) > 1 else word[2:]
            rest.extend(option)
            options.extend(_FORMS.get(forced, ()))
            forced = None if forced == "none" else forced
        elif word.startswith("-") and word != "-":
            rest.extend(option)
            if not is_linking(word):
                options.extend(option)
        else:
            inputs.append(_input(len(rest), word, forced, compiler))
            rest.append(word)
    if not inputs or any(word.startswith(_ASK) for word in rest):
        mode = "ask"
    return Command(mode, output, tuple(rest), tuple(inputs), tuple(options))


def is_linking(word: str) -> bool:
    """Return whether an option is only for the linker."""
    return word.startswith(("-l", "-L", "-Wl,", "-Xlinker", "-rdynamic", "-T", "-u", "-z", "-static", "-shared")) or (
        word in ("-s", "-pie", "-no-pie", "-r", "-rpath", "-e", "-R", "-nostdlib", "-nostartfiles", "-nodefaultlibs")
    )


def without_rules(options: Sequence[str]) -> tuple[str, ...]:
    """Return *options* without those that write make rules."""
    return tuple(word for option in with_arguments(options) if not option[0].startswith(_RULES) for word in option)


def _input(index: int, word: str, forced: str | None, compiler: Language) -> Input:
    if forced is not None:
        return Input(index, word, _X.get(forced) if word != "-" else None, compiled=True)
    suffix = Path(word).suffix
    language = language_of(word)
    if language == "c" and compiler == "c++":
        language = "c++"  # as g++ treats it
    return Input(index, word, language, compiled=language is not None or suffix in PLAIN)


def is_linked(name: str) -> bool:
    """Return whether only the linker reads the file *name*."""
    return Path(name).suffix in LINKED or ".so." in name


def with_arguments(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield options with their arguments, and files."""
    rest = iter(words)
    for word in rest:
        argument = next(rest, None) if word in TAKES_WORD else None
        yield (word,) if argument is None else (word, argument)


def _expanded(words: Sequence[str], depth: int) -> Iterator[str]:
    """Yield *words* with response files (``@file``) replaced by their contents."""
    for word in words:
        path = Path(word[1:])
        if not word.startswith("@") or depth > _LIMIT or not path.is_file():
            yield word
        else:
            yield from _expanded(shlex.split(path.read_text(encoding="utf-8", errors="surrogateescape")), depth + 1)
