"""Matches typed text with commands by words, synonyms and letters, tolerating typos."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from rapidfuzz.distance import OSA

_WORD: Final = re.compile(r"\w+")
_LITTLE: Final = frozenset({"a", "an", "the", "of", "to", "in", "as", "my", "this", "and", "or", "for", "with", "on"})
_ONE_TYPO_FROM, _TWO_TYPOS_FROM = 4, 8  # letters
_LETTERS_FROM: Final = 100.0  # higher costs are matches of letters in order, the weakest kind


def score(typed: str, name: str, synonyms: Sequence[str] = ()) -> float | None:
    """Return how well a command matches what was *typed* (less is better), ``None`` if it does not.

    From best to worst: the phrase in the *name*; the phrase among the *synonyms*; every typed word begins a word of
    either; the same with a typo; the letters in order in the name.
    """
    phrase = " ".join(typed.lower().split())
    if not phrase:
        return 0.0
    text = name.lower()
    at = text.find(phrase)
    if at >= 0 and (at == 0 or not text[at - 1].isalnum()):
        return at / 100 + len(text) / 1000 - 100
    if phrase in synonyms:
        return len(text) / 1000 - 90
    if at >= 0:
        return at / 100 - 80
    by_words = _by_words(phrase, text, synonyms)
    if by_words is not None:
        return by_words + len(text) / 1000 - 60
    best = _walk(phrase.replace(" ", ""), text)
    return None if best is None else best + len(text) / 100 + _LETTERS_FROM


def _by_words(phrase: str, text: str, synonyms: Sequence[str]) -> float | None:
    """Return the summed distance of each word of *phrase* from the nearest word of the command."""
    wanted = [word for word in _WORD.findall(phrase) if word not in _LITTLE] or _WORD.findall(phrase)
    own, other = _WORD.findall(text), [word for entry in synonyms for word in _WORD.findall(entry)]
    total = 0.0
    for word in wanted:
        costs = [_word(word, known) for known in own] + [1 + cost for cost in (_word(word, each) for each in other)]
        best = min(costs, default=float("inf"))
        if best == float("inf"):
            return None
        total += best
    return total if wanted else None


def _word(typed: str, known: str) -> float:
    """Return 0 for the same word, more for a prefix, more for a typo, infinity for another word."""
    if known == typed:
        return 0.0
    if known.startswith(typed):
        return 0.5
    typos = 2 if len(typed) >= _TWO_TYPOS_FROM else 1 if len(typed) >= _ONE_TYPO_FROM else 0
    if not typos or known[:1] != typed[:1]:
        return float("inf")
    starts = (known[:length] for length in range(len(typed) - typos, len(typed) + typos + 1))
    found = min(OSA.distance(typed, start, score_cutoff=typos) for start in starts)
    return 5.0 * found if found <= typos else float("inf")


def _walk(wanted: str, text: str) -> float | None:
    """Return the cost of finding the letters of *wanted* in order in *text*; word starts and neighbours are cheap."""
    places = [-1]
    for number, letter in enumerate(wanted):
        found = text.find(letter, places[-1] + 1)
        if found < 0:
            return None
        if found != places[-1] + 1:
            heads = (i for i in range(found, len(text)) if text[i] == letter and (i == 0 or not text[i - 1].isalnum()))
            found = next((i for i in heads if _fits(wanted[number:], text[i:])), found)
        places.append(found)
    return sum(
        0.0 if there == here + 1 else 1.0 if not text[there - 1].isalnum() else 3.0 for here, there in pairwise(places)
    )


def _fits(wanted: str, text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in wanted)
