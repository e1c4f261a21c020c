"""Comments and docstrings of Python and C sources, line by line."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

_C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
# code inside prose: names in backticks, parameters between stars
_CODE = re.compile(r"``[^`]*``|`[^`]*`|\*\w+\*")


def of_python(source: str) -> Iterator[tuple[int, str]]:
    """Yield line number (from 1) and text of each line of a docstring or comment, without code in backticks."""
    lines = source.split("\n")
    docs: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docs.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    yield from ((number, _CODE.sub("", lines[number - 1])) for number in sorted(docs))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], _CODE.sub("", token.string)


def of_c(source: str) -> Iterator[tuple[int, str]]:
    """Yield line number (from 1) and text of each line of a comment, without code in backticks."""
    for found in _C_COMMENT.finditer(source):
        first = source.count("\n", 0, found.start()) + 1
        yield from ((first + i, _CODE.sub("", line)) for i, line in enumerate(found.group().split("\n")))
