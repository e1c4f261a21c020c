"""The words of OpenMP directives and what each means for regions: a new directive is one entry, for all languages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a directive's name.

    *kind*: of the region that a construct with it is, of several words the first one here; "" for none. *loop*: its
    loop must follow. *alone*: a directive that begins with it has no statement. *silent*: no region in Fortran.
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
