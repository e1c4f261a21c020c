"""``scalegraph explain``: a metric or term of the glossary."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from scalegraph.base import glossary
from scalegraph.cli.output import echo
from scalegraph.runtime.mpi import rules

_RULES = f"""{rules.VARIABLE} in the program's environment chooses algorithms of MPI's collective operations, as
{rules.VARIABLE}=allreduce=ring,bcast=binomial.
What it does not name, or cannot be done so by the ranks of a call, goes by MPICH's switch points. There are
"""


@click.command("explain")
@click.argument("words", nargs=-1, metavar="TERM")
@click.option("--list", "list_", is_flag=True, help="List the terms.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def explain(words: tuple[str, ...], *, list_: bool, as_json: bool) -> int:
    """Explain a metric or term: meaning, intuition, formula, unit, source."""
    if list_ or not words:
        known = glossary.terms().values()
        lines = [f"{term.name:<20} {term.meaning}" for term in known]
        echo(json.dumps([asdict(term) for term in known], ensure_ascii=False) if as_json else "\n".join(lines))
        return 0
    if words == (rules.VARIABLE,):
        echo(json.dumps(rules.algorithms()) if as_json else _RULES + rules.listed().replace("; ", "\n"))
        return 0
    term = glossary.find(" ".join(words))
    echo(json.dumps(asdict(term), ensure_ascii=False) if as_json else glossary.text(term))
    return 0
