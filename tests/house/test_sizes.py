"""No source grows beyond what one reads in one go."""

import ast
from pathlib import Path

MOST_LINES = 500
MOST_OF_A_FUNCTION = 60


def sources(root: Path) -> list[Path]:
    return sorted((root / "scalegraph").rglob("*.py"))


def test_no_source_file_is_longer_than_five_hundred_lines(root: Path) -> None:
    lengths = {str(path.relative_to(root)): len(path.read_text("utf-8").splitlines()) for path in sources(root)}
    assert len(lengths) > 500
    assert {path: length for path, length in lengths.items() if length > MOST_LINES} == {}


def test_no_function_is_longer_than_sixty_lines(root: Path) -> None:
    long = {}
    for path in sources(root):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MOST_OF_A_FUNCTION:
                    long[f"{path.relative_to(root)}:{node.lineno} {node.name}"] = length
    assert long == {}
