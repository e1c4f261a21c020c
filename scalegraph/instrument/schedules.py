"""Static worksharing loops made to get their iterations from the runtime, so that each run can choose their schedule.

Compilers expand ``schedule(static)`` in place, so no runtime sees such a loop. In the compiled copy of a source the
clause becomes ``monotonic:runtime``, or ``monotonic:dynamic`` with the chunk size if there is one. Both call functions
that nothing else calls once the program's own ``monotonic`` modifiers are removed; `RENAMED` gives them names by which
the simulator's runtime recognises a static loop. Line numbers stay.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final

from scalegraph.instrument.lexer import Directive, Token, scan
from scalegraph.instrument.pragmas import construct
from scalegraph.instrument.schedule_clause import STATIC, clause_at_run_time
from scalegraph.runtime.languages import Language

RENAMED: Final = {
    f"GOMP_{name}": f"scalegraph_{name.replace('dynamic', 'static_chunk').replace('runtime', 'static')}"
    for name in (
        "loop_dynamic_start",
        "loop_runtime_start",
        "loop_ull_dynamic_start",
        "loop_ull_runtime_start",
        "parallel_loop_dynamic",
        "parallel_loop_runtime",
    )
}
"""Functions called by static loops of a copy, and their new names."""

_LEFT: Final = frozenset(("taskloop", "declare", "cancel", "cancellation", "end"))
_ATTRIBUTE = re.compile(rb"\[\s*\[\s*(?:using\s+)?omp\s*:")
_FAR: Final = 400  # tokens of an attribute before one of its directives
_PRAGMA = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+omp\b.*\n?", re.MULTILINE)


def at_run_time(text: str, language: Language) -> str:
    """Return the preprocessed C or C++ *text* with static loops that call the runtime.

    The compiler has included headers and turned ``_Pragma`` operators into directives. Loops with ``ordered`` call it
    anyway.
    """
    data = text.encode("utf-8", "surrogateescape")
    for start, end, clause in sorted(_edits(data, language), reverse=True):
        data = data[:start] + clause.encode("utf-8", "surrogateescape") + data[end:]
    return data.decode("utf-8", "surrogateescape")


def _edits(data: bytes, language: Language) -> Iterator[tuple[int, int, str]]:
    """Yield replacements: first offset, the one after the last, the new text.

    Preprocessed text is long, and directives are lines: only these are scanned, unless a string may contain such lines.
    """
    cplusplus = language == "c++"
    lines = [(0, data)] if b'R"' in data else [(found.start(), found[0]) for found in _PRAGMA.finditer(data)]
    for at, piece in lines:
        for directive in scan(piece, cplusplus=cplusplus).directives:
            if (edit := _edit(directive, piece)) is not None:
                yield at + edit[0], at + edit[1], edit[2]
    if _ATTRIBUTE.search(data):
        for directive in _attributes(scan(data, cplusplus=cplusplus).tokens):
            if (edit := _edit(directive, data)) is not None:
                yield edit


def _attributes(tokens: Sequence[Token]) -> Iterator[Directive]:
    """Yield the directives in attributes, ``[[omp::directive(..)]]``, without commas between their clauses."""
    for at, token in enumerate(tokens[:-2]):
        if token.text != "directive" or tokens[at + 1].text != "(" or not _of_openmp(tokens, at):
            continue
        close = _closing(tokens, at + 1)
        inside = list(tokens[at + 2 : close])
        depths = [0, *itertools.accumulate({"(": 1, ")": -1}.get(one.text, 0) for one in inside)]
        kept = [one for one, depth in zip(inside, depths, strict=False) if one.text != "," or depth > 0]
        if close is not None and kept:
            omp = Token("word", kept[0].start, kept[0].start, "omp")
            yield Directive("pragma", kept[0].start, kept[-1].end, (omp, *kept))


def _of_openmp(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the token at *at* is in an OpenMP attribute: after ``[[omp::`` or ``[[using omp:``."""
    before = [token.text for token in tokens[max(0, at - _FAR) : at]]
    opens = [i for i in range(len(before) - 2) if before[i : i + 2] == ["[", "["]]
    return bool(opens) and "]" not in before[opens[-1] :] and "omp" in before[opens[-1] + 2 : opens[-1] + 4]


def _edit(directive: Directive, piece: bytes) -> tuple[int, int, str] | None:
    """Return the replacement in the directive of a loop in *piece*: first offset, the one after the last, new text."""
    made = construct(directive)
    words = {token.text for token in directive.tokens}
    if (
        made is None
        or directive.is_operator
        or "for" not in made.words
        or _LEFT & set(made.words)
        or "ordered" in words
    ):
        return None
    tokens = directive.tokens
    at = next((i for i, t in enumerate(tokens[:-1]) if t.text == "schedule" and tokens[i + 1].text == "("), None)
    if at is None:
        return tokens[-1].end, tokens[-1].end, f" {STATIC}"
    close = _closing(tokens, at + 1)
    if close is None:
        return None
    inside = piece[tokens[at + 1].end : tokens[close].start].decode("utf-8", "surrogateescape")
    clause = clause_at_run_time(inside)
    return None if clause is None else (tokens[at].start, tokens[close].end, clause)


def _closing(tokens: Sequence[Token], at: int) -> int | None:
    depth = 0
    for i in range(at, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[i].text, 0)
        if depth == 0:
            return i
    return None
