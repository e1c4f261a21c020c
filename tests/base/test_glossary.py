"""The glossary is written once; everything generated from it agrees, and it covers every quantity."""

import json
from pathlib import Path

import pytest

from scalegraph.base import glossary
from scalegraph.base.errors import InputError
from scalegraph.cli.main import run


def test_the_document_is_made_from_the_resource(root: Path) -> None:
    written = (root / "docs/GLOSSARY.md").read_text()
    assert written == glossary.markdown(), "run: python -m scalegraph.base.glossary > docs/GLOSSARY.md"


def test_every_quantity_of_studies_and_traces_is_in_the_glossary() -> None:
    from scalegraph.request.results.quantities import QUANTITIES
    from scalegraph.request.results.trace_quantities import TRACE_QUANTITIES as OF_TRACES

    named = {quantity for term in glossary.terms().values() for quantity in term.quantities}
    assert {*QUANTITIES, *OF_TRACES} - named == set()
    assert named - {*QUANTITIES, *OF_TRACES} == set()


def test_every_term_has_meaning_and_intuition_and_its_words_lead_to_one_term() -> None:
    for term in glossary.terms().values():
        assert term.meaning.endswith("."), term.name
        assert term.intuition, term.name
        assert glossary.find(term.name) is term
        assert glossary.find(term.title).title == term.title
    words = [word.lower() for term in glossary.terms().values() for word in {w.lower() for w in term.words}]
    shared = {word for word in words if words.count(word) > 1}
    assert shared == set()


def test_explain_prints_a_term_by_any_of_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "T_para"]) == 0
    assert "Elapsed time of the program" in capsys.readouterr().out
    assert run(["explain", "--json", "karp-flatt"]) == 0
    assert json.loads(capsys.readouterr().out)["formula"] == "(1/S - 1/N) / (1 - 1/N)"
    assert run(["explain", "eficiency"]) == 2
    assert "efficiency" in capsys.readouterr().err


def test_unknown_terms_are_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="speedup"):
        glossary.find("speedpu")
    assert glossary.search("serial fraction")[0].name == "serial-fraction"
