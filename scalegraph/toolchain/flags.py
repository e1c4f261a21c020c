"""The user's compiler and linker flags: those passed on, those that ScaleGraph sets, and those that cannot work."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from scalegraph.base.errors import Fault, InputError
from scalegraph.toolchain.command import TAKES_WORD, is_linking
from scalegraph.toolchain.mpi import is_library

_WHOLE = {
    "-c": "ScaleGraph compiles and links by itself",
    "-S": "ScaleGraph compiles and links by itself",
    "-E": "ScaleGraph compiles and links by itself",
    "-o": "ScaleGraph chooses where the program goes",
    "-M": "ScaleGraph finds the headers by itself",
    "-shared": "the simulated target runs programs, not libraries",
    "-static": "the simulated target needs the shared C library",
    "-static-pie": "the simulated target needs the program at a fixed address",
    "-pie": "the simulated target needs the program at a fixed address",
    "-fPIE": "the simulated target needs the program at a fixed address",
    "-fpie": "the simulated target needs the program at a fixed address",
    "-m32": "the simulated target runs 64-bit programs",
    "-mx32": "the simulated target runs 64-bit programs",
    "-pg": "profiling hooks would be simulated as part of the program",
    "--coverage": "coverage counters would be simulated as part of the program",
    "-nostdlib": "the simulated target needs the C library",
    "-nostartfiles": "the simulated target needs the C library's start code",
    "-nodefaultlibs": "the simulated target needs the C library",
}
_PREFIX = {
    "-fsanitize": "the simulated target uses the sanitizer's hooks itself",
    "-fno-sanitize": "the simulated target uses the sanitizer's hooks itself",
    "-flto": "the instrumentation must be in the objects before they are linked",
    "-fprofile-": "profiling counters would be simulated as part of the program",
    "-ftest-coverage": "coverage counters would be simulated as part of the program",
    "-fsplit-stack": "simulated processors have stacks of their own",
    "-finstrument-functions": "its calls would be simulated as part of the program",
    "-MD": "ScaleGraph finds the headers by itself",
    "-MM": "ScaleGraph finds the headers by itself",
    "-save-temps": "ScaleGraph chooses where files go",
    "-fopenacc": "the simulated target runs OpenMP, not OpenACC",
}
# Options of wrapped compilers that the wrapper handles itself, or that are harmless.
_WRAPPED = ("-c", "-S", "-E", "-o", "-M", "-MD", "-MM", "-save-temps", "-pie", "-fPIE", "-fpie", "-flto")
_AT_LINK = ("-shared", "-static-pie", "-nostdlib", "-nostartfiles", "-nodefaultlibs")
_DROPPED = ("-pie", "-fPIE", "-fpie", "-fPIC", "-fpic", "-flto", "-ffat-lto", "-fuse-linker-plugin", "-fwhole-program")
# Left out with a warning: the program computes the same without it.
LEFT_OUT = {"-static": "the simulated target needs the shared C library; linked without it"}
_OURS = ("-fopenmp", "-lgomp", "-no-pie", "-fno-pie", "-fno-PIE", "-pipe")  # set by us anyway


@dataclass(frozen=True)
class Flags:
    """Flags for compiling and for linking, in the user's order; *include*: directories for headers."""

    compile: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    include: tuple[str, ...] = field(default=())


def read_flags(cflags: str | Sequence[str], ldflags: str | Sequence[str], include: Iterable[str]) -> Flags:
    """Split and check the user's flags; libraries among the compiler flags go to the link, as in ``gcc prog.c -lm``.

    Raises `InputError` with one fault for each flag that cannot work, and the reason.
    """
    faults: list[Fault] = []
    to_compile: list[str] = []
    to_link: list[str] = []
    for key, given in (("cflags", cflags), ("ldflags", ldflags)):
        linking = key == "ldflags"
        for words in _options(given, key, faults):
            why = refusal(words[0], linking=linking)
            if why:
                faults.append(Fault(f"{words[0]} cannot be used: {why}", key=key))
            elif words[0] not in _OURS and not is_library(words[0]):
                (to_link if linking or is_linking(words[0]) or words[0] == "-pthread" else to_compile).extend(words)
    if faults:
        raise InputError(faults)
    return Flags(tuple(to_compile), tuple(to_link), tuple(include))


def _options(given: str | Sequence[str], key: str, faults: list[Fault]) -> list[tuple[str, ...]]:
    """Return options with their arguments."""
    try:
        words = shlex.split(given) if isinstance(given, str) else list(given)
    except ValueError as error:
        faults.append(Fault(f"cannot be split into words: {str(error).lower()}: {given}", key=key))
        return []
    options: list[tuple[str, ...]] = []
    rest = iter(words)
    for word in rest:
        if word in TAKES_WORD and word != "-o":  # which is refused, with or without a name
            argument = next(rest, None)
            if argument is None:
                faults.append(Fault(f"{word} lacks its argument", key=key))
                return options
            options.append((word, argument))
        else:
            options.append((word,))
    return options


def is_dropped(word: str, *, linking: bool) -> bool:
    """Return whether a wrapped compiler drops *word*: we set it another way, or it has no meaning here."""
    if linking and (word.startswith("-fopenmp") or word == "-lgomp" or is_library(word)):
        return True
    return word.startswith(_DROPPED) or word in LEFT_OUT


def refusal(word: str, *, linking: bool, wrapped: bool = False) -> str:
    """Return why *word* cannot be used, "" if it can; *wrapped*: passed to one of our compilers, by an unaware make."""
    harmless = word.startswith(_WRAPPED) or word in LEFT_OUT or (word in _AT_LINK and not linking)
    if wrapped and harmless:
        return ""
    if word in _WHOLE:
        return _WHOLE[word]
    for prefix, why in _PREFIX.items():
        if word.startswith(prefix):
            return why
    if word.startswith("-o") and not linking and not wrapped:
        return _WHOLE["-o"]
    if not word.startswith(("-", "@")) and not linking and not wrapped:
        return "it is not a flag; list sources separately"
    return ""
