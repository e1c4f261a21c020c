"""Meaning of a program's pragmas for its regions: OpenMP directives and ScaleGraph's own phases.

A new word of directives is one entry in `WORDS`, for C, C++ and Fortran.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from scalegraph.instrument.lexer import Comment, Directive, Token


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a directive's name.

    *kind*: the kind of region that a construct with this word becomes, "" for none; of several words, the first in
    `WORDS` decides. *loop*: a loop must follow. *alone*: a directive that begins with this word has no statement.
    *silent*: in Fortran it makes no region.
    """

    kind: str = ""
    loop: bool = False
    alone: bool = False
    silent: bool = False


WORDS: Final[dict[str, Word]] = {
    "parallel": Word("parallel"),
    "taskloop": Word("task", loop=True, silent=True),
    "for": Word("for", loop=True),
    "sections": Word("sections"),
    "single": Word("single"),
    "workshare": Word("single"),
    "critical": Word("critical"),
    "barrier": Word("barrier", alone=True),
    "ordered": Word("ordered"),
    "task": Word("task", silent=True),
    "master": Word("master", silent=True),
    "masked": Word("master", silent=True),
    "simd": Word(loop=True, silent=True),
    "distribute": Word(loop=True, silent=True),
    "loop": Word(loop=True, silent=True),
    "tile": Word(loop=True, silent=True),
    "unroll": Word(loop=True, silent=True),
    "target": Word(silent=True),
    "teams": Word(silent=True),
    "atomic": Word(silent=True),
    "declare": Word(alone=True, silent=True),
    **dict.fromkeys(
        [
            "section",
            "taskwait",
            "taskyield",
            "flush",
            "cancel",
            "cancellation",
            "threadprivate",
            "scan",
            "requires",
            "end",
            "begin",
            "depobj",
            "interop",
            "error",
            "nothing",
            "assumes",
            "allocate",
            "groupprivate",
            "metadirective",
        ],
        Word(alone=True),
    ),
    **dict.fromkeys(
        ["taskgroup", "point", "reduction", "update", "enter", "exit", "data", "scope", "variant", "mapper", "assume"],
        Word(),
    ),
}
KINDS: Final = {word: said.kind for word, said in WORDS.items() if said.kind}
"""The kinds of regions by word, in the order in which they count."""
FORTRAN: Final = {"do" if word == "for" else word: said for word, said in WORDS.items()}
_LOOPS: Final = frozenset(word for word, said in WORDS.items() if said.loop)
_WITHOUT_REGION: Final = ("declare", "end", "begin", "cancel", "cancellation")  # whatever words follow


@dataclass(frozen=True, slots=True)
class Construct:
    """An OpenMP directive, as far as regions are concerned.

    *kind*: the region kind, or "" (no region of its own); *words*: its name (``parallel for``).
    """

    directive: Directive
    words: tuple[str, ...]
    kind: str = ""
    label: str = ""  # name of a critical section
    standalone: bool = False
    is_loop: bool = False  # its loop must follow immediately
    depth: int = 1  # associated loops (collapse, ordered); 0 = unknown
    inside: bool = False  # the probe goes into the statement, not around the construct
    opaque: bool = False  # nothing may be planted inside

    @property
    def title(self) -> str:
        """Name for display, without the place."""
        name = " ".join(self.words)
        return f"{name} ({self.label})" if self.label else name


@dataclass(frozen=True, slots=True)
class PhaseMark:
    """Begin (*name* given) or end of a user phase; *problem* says what is wrong."""

    start: int
    end: int
    name: str | None
    source: Directive | Comment
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Clauses:
    words: tuple[str, ...]
    arguments: dict[str, tuple[Token, ...]] = field(default_factory=dict)


def construct(directive: Directive) -> Construct | None:
    """Return the OpenMP construct of *directive*, None if it is not one."""
    tokens = directive.tokens
    if directive.name != "pragma" or not tokens or tokens[0].text != "omp":
        return None
    clauses = _clauses(tokens[1:])
    words, arguments = clauses.words, clauses.arguments
    first = words[0] if words else ""
    is_loop = bool(_LOOPS.intersection(words)) and first != "declare"
    kind, label = _kind(words), ""
    if kind == "critical" and "critical" in arguments:
        label = "".join(t.text for t in arguments["critical"])
    doacross = first == "ordered" and bool({"depend", "doacross"} & arguments.keys())
    data_only = first == "target" and bool({"update", "enter", "exit"} & set(words))
    return Construct(
        directive,
        words,
        kind=kind,
        label=label,
        standalone=(first in WORDS and WORDS[first].alone) or doacross or data_only,
        is_loop=is_loop,
        depth=_depth(arguments) if is_loop else 0,
        inside=kind in ("task", "master") and not is_loop,
        opaque="simd" in words or "target" in words or first == "atomic",
    )


def _kind(words: tuple[str, ...]) -> str:
    """Return the region kind of a directive name."""
    if not words or "target" in words or words[0] in _WITHOUT_REGION:
        return ""
    return next((kind for word, kind in KINDS.items() if word in words), "")


def _clauses(tokens: Sequence[Token]) -> _Clauses:
    """Split a directive into the words of its name and its clauses' arguments."""
    words: list[str] = []
    arguments: dict[str, tuple[Token, ...]] = {}
    in_name = True
    at = 0
    while at < len(tokens):
        text = tokens[at].text
        has_arguments = at + 1 < len(tokens) and tokens[at + 1].text == "("
        in_name = in_name and text in WORDS and not (words and (has_arguments or text == "ordered"))
        if in_name:
            words.append(text)
        if has_arguments:
            close = _closing(tokens, at + 1)
            arguments[text] = tuple(tokens[at + 2 : close])
            at = close
        elif not in_name and tokens[at].kind == "word":
            arguments.setdefault(text, ())
        at += 1
    return _Clauses(tuple(words), arguments)


def _closing(tokens: Sequence[Token], at: int) -> int:
    depth = 0
    for i in range(at, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[i].text, 0)
        if depth == 0:
            return i
    return len(tokens)


def _depth(arguments: dict[str, tuple[Token, ...]]) -> int:
    depth = 1
    for clause in ("collapse", "ordered"):
        inside = arguments.get(clause, ())
        if inside:
            if len(inside) != 1 or not inside[0].text.isdecimal():
                return 0
            depth = max(depth, int(inside[0].text))
    return max(depth, len([t for t in arguments.get("sizes", ()) if t.text == ","]) + 1)


def phase_mark(source: Directive | Comment) -> PhaseMark | None:
    """Return the phase begin or end in a pragma or comment, None if it is neither."""
    if isinstance(source, Comment):
        head, colon, rest = source.text.partition(":")
        if head.strip() != "scalegraph" or not colon:
            return None
        words = rest.split(maxsplit=1)
        action, name = [*words, "", ""][:2]
        name = name.strip().strip('"')
    else:
        if source.name != "pragma" or not source.tokens or source.tokens[0].text != "scalegraph":
            return None
        action = source.tokens[1].text if len(source.tokens) > 1 else ""
        name = " ".join(t.text.strip('"') for t in source.tokens[2:])
    if action == "phase":
        problem = "" if name else 'a phase needs a name: `phase "name"`'
        return PhaseMark(source.start, source.end, name, source, problem)
    if action == "end":
        return PhaseMark(source.start, source.end, None, source)
    return PhaseMark(source.start, source.end, None, source, f"expected `phase` or `end`, found '{action}'")
