"""The glossary: metrics and terms with symbol, unit, formula, source and intuition, loaded from one resource.

``python -m scalegraph.base.glossary`` prints docs/GLOSSARY.md.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.resources import resource_dir

_SOURCES: Final = (
    "Sources: LM = “Latency Metric”, SG = “Software Support for Multiprocessor Latency Measurement and Evaluation” "
    "(Scale-Graph), IS = “Scalability of Parallel Algorithm-Machine Combinations” (isospeed). "
    "How each number is computed is in METRICS.md."
)


@dataclass(frozen=True)
class Term:
    """One entry. *quantities* are names accepted by ``scalegraph analyze --what``; *also* are synonyms."""

    name: str
    title: str
    meaning: str
    intuition: str
    symbol: str = ""
    unit: str = ""
    formula: str = ""
    source: str = ""
    quantities: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """All names of the term."""
        return (self.name, self.title, *filter(None, (self.symbol,)), *self.quantities, *self.also)

    def facts(self) -> list[tuple[str, str]]:
        """Return (label, value) for all facts besides meaning and intuition."""
        pairs = (("Symbol", self.symbol), ("Unit", self.unit), ("Formula", self.formula), ("Source", self.source))
        found = [(what, value) for what, value in pairs if value]
        if self.quantities:
            found.append(("Computed by", ", ".join(f"scalegraph analyze INPUT --what {q}" for q in self.quantities)))
        if self.also:
            found.append(("Also", ", ".join(self.also)))
        return found


@cache
def terms() -> dict[str, Term]:
    """Return every term by name, in file order."""
    with (resource_dir("help") / "glossary.toml").open("rb") as file:
        content: dict[str, dict[str, Any]] = tomllib.load(file)
    return {name: _term(name, entry) for name, entry in content.items()}


def _term(name: str, entry: dict[str, Any]) -> Term:
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    return Term(name=name, **values)  # type: ignore[arg-type]


def find(word: str) -> Term:
    """Return the term called *word*: by name, title, symbol, quantity or synonym, ignoring case.

    Raises:
        InputError: there is none; similar words are suggested.

    """
    wanted = " ".join(word.lower().replace("_", " ").replace("-", " ").split())
    known = {w.lower().replace("_", " ").replace("-", " "): term for term in terms().values() for w in term.words}
    if wanted not in known:
        raise InputError(Fault(f"the glossary has no term '{word}'{near(wanted, known)}; --list names all"))
    return next((term for term in terms().values() if term.name.replace("-", " ") == wanted), known[wanted])


def search(typed: str) -> list[Term]:
    """Return the terms containing every word of *typed*: matches in names first, then matches in the text."""
    wanted = typed.lower().split()
    called = [t for t in terms().values() if all(w in " ".join(t.words).lower() for w in wanted)]
    said = [t for t in terms().values() if all(w in f"{t.words} {t.meaning} {t.formula}".lower() for w in wanted)]
    return [*called, *(term for term in said if term not in called)]


def text(term: Term) -> str:
    """Return *term* as lines of plain text."""
    lines = [term.title, "", term.meaning, term.intuition, ""]
    return "\n".join(lines + [f"{what + ':':<13}{value}" for what, value in term.facts()]).rstrip()


def markdown() -> str:
    """Return the whole glossary as Markdown (docs/GLOSSARY.md)."""
    ways = "`scalegraph explain TERM` prints one of these; the window has them under Help > Glossary."
    parts = ["# Glossary", "", _SOURCES, "", ways, ""]
    for term in sorted(terms().values(), key=lambda term: term.title.lower()):
        parts += [f"## {term.title}", "", f"{term.meaning} *{term.intuition}*", ""]
        for what, value in term.facts():
            parts.append(f"- {what}: `{value}`" if what in ("Symbol", "Formula") else f"- {what}: {value}")
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    print(markdown(), end="")
