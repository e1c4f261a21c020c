"""The candidate models: sums and products of shortlisted factors."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

# A slot is (parameter, kind): kind 0 takes the best factors, kinds 1 and 2 a falling and a growing factor of the same
# sum.
Slot = tuple[int, int]
Form = tuple[tuple[Slot, ...], ...]  # a sum of products of slots


@dataclass(frozen=True)
class Candidate:
    """A sum of products; *choices* selects a factor from the shortlist of each slot."""

    form: Form
    choices: tuple[tuple[Slot, int], ...]


def forms(parameters: int, pairs: bool) -> list[Form]:
    """Return the sums of products to try; for two and three parameters these include Extra-P's.

    With *pairs*, also sums in which one parameter has both a falling and a growing term.

    Shape: one entry for each form. Source: Extra-P (Calotoiu and others 2013, 2016).
    """
    slots = [(parameter, 0) for parameter in range(parameters)]
    found: list[Form] = [()]
    products = [tuple(part) for size in range(1, parameters + 1) for part in itertools.combinations(slots, size)]
    most = {1: 1, 2: 3}.get(parameters, 3)
    for size in range(1, most + 1):
        found += [form for form in itertools.combinations(products, size) if _sensible(form, parameters)]
    if pairs:
        for parameter in range(parameters):
            first: Slot = (parameter, 1)
            second: Slot = (parameter, 2)
            rest = [slot for slot in slots if slot[0] != parameter]
            found.append(((first,), (second,)))
            for other in rest:
                found += [
                    ((first, other), (second,)),
                    ((first, other), (second, other)),
                    ((first, other), (second,), (other,)),
                ]
    return found


def _sensible(form: Form, parameters: int) -> bool:
    """Return whether a sum of three terms in three parameters contains a product (otherwise too many are alike)."""
    used = {slot for product in form for slot in product}
    return len(form) < 3 or parameters < 3 or len(used) == parameters


def candidates(parameters: int, sizes: dict[Slot, int]) -> list[Candidate]:
    """Return every form with every choice of shortlisted factors; *sizes* are the lengths of the shortlists.

    Shape: one entry for each choice. Source: Extra-P (Calotoiu and others 2013, 2016); shortlists ScaleGraph's.
    """
    found: list[Candidate] = []
    for form in forms(parameters, any(kind > 0 for _, kind in sizes)):
        used = sorted({slot for product in form for slot in product})
        if any(slot not in sizes for slot in used):
            continue
        every = itertools.product(*(range(sizes[slot]) for slot in used))
        found.extend(Candidate(form, tuple(zip(used, picks, strict=True))) for picks in every)
    return found
