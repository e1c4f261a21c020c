"""Names of heap blocks, from the source text that allocates them."""

import pytest

from scalegraph.link.causes import assigned


@pytest.mark.parametrize(
    ("text", "line", "name"),
    [
        ("double *a = malloc(n);", 1, "a"),
        ("a = (double *)malloc(n * sizeof *a);", 1, "a"),
        ("t->cells[i].next = calloc(1, n);", 1, "t->cells[i].next"),
        ("if ((p = realloc(p, n)) == NULL)", 1, "p"),
        ("grid =\n    calloc(n,\n        8);", 2, "grid"),
        ("posix_memalign((void **)&buffer, 64, n);", 1, "buffer"),
        ("  allocate(field(n, n))", 1, "field"),
        ("int *v = new int[n];", 1, "v"),
        ("a = 1; b = malloc(n);", 1, "b"),
        ("return malloc(n);", 1, ""),
        ("if (x == malloc(n))", 1, ""),
        ("a = malloc(n);", 9, ""),
    ],
)
def test_a_block_is_named_after_what_it_is_assigned_to(text: str, line: int, name: str) -> None:
    assert assigned(text.splitlines(), line) == name
