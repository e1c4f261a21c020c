"""Docstrings and comments use plain technical words; each word that came back once is refused, with what to write."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.house.prose import of_c, of_python

_PLACES = "in|at|on|below|above|before|between|beside|behind|there|here|after|together|near|next|within"
# what is refused -> what to write
WORDS = {
    r"leaf(?! rings?)": "category (of the accounting)",
    r"told|tells?|telling": "record, report, show, distinguish",
    r"look(s|ed|ing)? (at|for|into|through|around)|(a|one|two|next|every) looks?": "view, examine, search, query",
    r"ask(s|ed|ing)? for": "request",
    r"dearest": "most expensive",
    r"sort of": "kind of",
    r"put off": "deferred",
    r"lasting": "duration",
    r"rubbish": "garbage",
    r"where it is lost": "lost time, loss breakdown",
    r"odd files?": "malformed or unusual file",
    r"who waits? for whom|who waited for whom": "waiter and holder",
    r"traces of other tools": "third-party traces",
    r"the house": "architecture",
    rf"(stands?|stood|lies?) ({_PLACES})": "is, are",
    r"for people": "for display, for the user",
}
_REFUSED = [(re.compile(rf"\b({pattern})\b", re.IGNORECASE), advice) for pattern, advice in WORDS.items()]


def refused(lines: Iterable[tuple[int, str]]) -> list[str]:
    """Return a sentence for every refused word: line, word, what to write."""
    return [
        f"line {number}: '{found.group()}'; write: {advice}"
        for number, line in lines
        for pattern, advice in _REFUSED
        for found in pattern.finditer(line)
    ]


def test_docstrings_and_comments_use_plain_words(root: Path) -> None:
    files = sorted(path for path in (root / "scalegraph").rglob("*") if path.suffix in (".py", ".c", ".h"))
    assert len([path for path in files if path.suffix == ".py"]) > 500
    assert len([path for path in files if path.suffix != ".py"]) > 80
    found = {}
    for path in files:
        lines = (of_python if path.suffix == ".py" else of_c)(path.read_text(encoding="utf-8"))
        # the timers of the order of events are leaves of a tree
        found[str(path.relative_to(root))] = [] if path.name == "sg_run_queue.h" else refused(lines)
    assert {path: sentences for path, sentences in found.items() if sentences} == {}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("What the trace tells of it.", "tells"),
        ("The runs that were looked at.", "looked at"),
        ("Cycles of a leaf.", "leaf"),
        ("The dearest line.", "dearest"),
        ("Who waited for whom.", "Who waited for whom"),
        ("Parents stand before children.", "stand before"),
        ("As asked for.", "asked for"),
    ],
)
def test_a_refused_word_is_found_in_docstrings_and_comments(text: str, word: str) -> None:
    sentence = f"line 2: '{word}'; write: "
    assert [found.startswith(sentence) for found in refused(of_python(f'def f():\n    """{text}"""\n'))] == [True]
    assert [found.startswith(sentence) for found in refused(of_python(f"x = 1\ny = 2  # {text}\n"))] == [True]
    assert [found.startswith(sentence) for found in refused(of_c(f"int x;\n/* {text} */\n"))] == [True]


def test_code_in_prose_and_strings_are_no_prose() -> None:
    assert refused(of_python('x = "told"\n# the column `told`, ``leaf.busy`` and *told*\n')) == []
