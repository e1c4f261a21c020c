"""Call trees: merged, joined, read from sets, and the view of one function; against sums computed by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalegraph.analyze import calltree
from scalegraph.analyze.calltree import CallTree
from scalegraph.measurements.model import CallPath, MeasurementSet, Metric


def tree(*nodes: tuple[str, int, float], places: tuple[str, ...] = ()) -> CallTree:
    """Return nodes (name, parent, own value), each visited once, with its number as key."""
    names, parents, own = zip(*nodes, strict=True)
    return CallTree(
        names, parents, np.array(own, float), np.ones(len(nodes)), tuple(str(i) for i in range(len(nodes))), places
    )


RECURSIVE = tree(
    ("main", -1, 1.0), ("f", 0, 2.0), ("f", 1, 3.0), ("g", 2, 4.0), ("h", 0, 0.5), ("f", 4, 8.0), ("g", 5, 16.0)
)


@st.composite
def trees(draw: st.DrawFn) -> CallTree:
    count = draw(st.integers(1, 12))
    parents = [-1, *(draw(st.integers(-1, i - 1)) for i in range(1, count))]
    names = draw(st.lists(st.sampled_from("abc"), min_size=count, max_size=count))
    own = draw(st.lists(st.integers(0, 50).map(float), min_size=count, max_size=count))
    return CallTree(tuple(names), tuple(parents), np.array(own), np.ones(count), tuple(names))


def test_siblings_of_one_name_are_one_node_and_nothing_without_value_stays() -> None:
    made = calltree.merged(tree(("main", -1, 1), ("a", 0, 2), ("b", 0, 9), ("a", 0, 3), ("idle", 0, 0), ("c", 3, 4)))
    assert made.names == ("main", "b", "a", "c")
    assert made.parents == (-1, 0, 0, 2)
    assert made.own.tolist() == [1, 9, 5, 4]
    assert made.keys == ("0", "2", "1", "5")
    assert made.visits.tolist() == [1, 1, 2, 1]


@pytest.mark.slow
@given(trees())
def test_merging_loses_no_value_and_no_child_is_wider_than_its_parent(made: CallTree) -> None:
    after = calltree.merged(made)
    assert after.whole == made.whole
    for index, parent in enumerate(after.parents):
        assert parent < index
        assert parent < 0 or after.total[index] <= after.total[parent] + 1e-9


@pytest.mark.slow
@given(trees(), trees())
def test_joined_trees_keep_the_values_of_both(first: CallTree, second: CallTree) -> None:
    joined = calltree.joined(calltree.merged(first), calltree.merged(second))
    assert joined.tree.whole == pytest.approx(second.whole)
    assert joined.before.sum() == pytest.approx(first.whole)


@pytest.mark.slow
@given(trees())
def test_a_tree_joined_with_itself_has_no_difference(one: CallTree) -> None:
    joined = calltree.joined(calltree.merged(one), calltree.merged(one))
    assert joined.before.tolist() == joined.tree.own.tolist()


def test_frames_are_the_same_although_lines_have_moved() -> None:
    before = tree(("f", -1, 1), ("loop f:3", 0, 5), ("loop f:9", 0, 2), places=("a.c:1", "a.c:3", "a.c:9"))
    after = tree(("f", -1, 1), ("loop f:14", 0, 7), ("loop f:5", 0, 4), places=("a.c:1", "a.c:14", "a.c:5"))
    joined = calltree.joined(before, after)
    found = {
        name: (float(a), float(b)) for name, a, b in zip(joined.tree.names, joined.before, joined.tree.own, strict=True)
    }
    assert found == {"f": (1, 1), "loop f:5": (5, 4), "loop f:14": (2, 7)}


def test_keys_are_those_of_the_tree_that_is_in_view() -> None:
    one, two = tree(("a", -1, 1), ("b", 0, 2)), tree(("x", -1, 0), ("a", -1, 1), ("b", 1, 2))
    assert calltree.joined(one, two).tree.keys == ("1", "2")
    assert calltree.joined(one, two, keys_of_first=True).tree.keys == ("0", "1")


def test_a_butterfly_counts_recursion_once_and_callers_and_callees_add_up() -> None:
    found = calltree.butterfly(RECURSIVE, "f")
    assert found.total == 9 + 24
    assert found.own == 13
    assert [(one.name, one.total) for one in found.callers] == [("h", 24), ("main", 9)]
    assert [(one.name, one.total) for one in found.callees] == [("g", 20)]
    assert sum(one.total for one in found.callers) == found.total
    assert sum(one.total for one in found.callees) + found.own == found.total
    assert found.again == 1
    assert found.visits == 3


@pytest.mark.slow
@given(trees(), st.sampled_from("abc"))
def test_callers_add_up_to_the_function_in_every_tree(made: CallTree, name: str) -> None:
    if name not in made.names:
        with pytest.raises(KeyError):
            calltree.butterfly(made, name)
        return
    found = calltree.butterfly(made, name, "root")
    assert sum(one.total for one in found.callers) == pytest.approx(found.total)
    assert calltree.by_function(made)[name] == (pytest.approx(found.total), pytest.approx(found.own))


def measured(extent: Any, values: list[float]) -> MeasurementSet:
    """Return main -> (solve, wait) with one value each."""
    table = pd.DataFrame(
        {
            name: np.array(cells)
            for name, cells in (
                ("point", np.zeros(3, np.int32)),
                ("call_path", np.arange(3, dtype=np.int32)),
                ("metric", np.zeros(3, np.int32)),
                ("repetition", np.zeros(3, np.int32)),
                ("value", values),
            )
        }
    )
    paths = (CallPath("main"), CallPath("solve", 0), CallPath("wait", 0))
    return MeasurementSet(("p",), pd.DataFrame({"p": [4]}), paths, (Metric("time", "s", "time", extent),), table)


@pytest.mark.parametrize(
    ("extent", "values", "own", "said"),
    [
        ("exclusive", [1.0, 2.0, 3.0], [1, 2, 3], ""),
        ("inclusive", [10.0, 2.0, 3.0], [5, 2, 3], ""),
        ("unknown", [10.0, 2.0, 3.0], [5, 2, 3], "read as inclusive"),
        ("unknown", [1.0, 2.0, 3.0], [1, 2, 3], "read as exclusive"),
    ],
)
def test_values_of_a_set_are_exclusive_however_the_file_has_them(
    extent: str, values: list[float], own: list[float], said: str
) -> None:
    made, words = calltree.of_set(measured(extent, values), 0, 0)
    assert made.own.tolist() == own
    assert said in words
    assert bool(words) == bool(said)


def test_parts_that_cost_more_than_the_whole_are_counted() -> None:
    made, _ = calltree.of_set(measured("inclusive", [4.0, 2.0, 3.0]), 0, 0)
    assert made.own.tolist() == [0, 2, 3]
    assert made.clipped == 1
    assert all(math.isnan(value) for value in made.visits)
