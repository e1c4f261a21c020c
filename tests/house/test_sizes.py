"""No source file is too long to be read in one go."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

MOST_LINES = 500
MOST_OF_A_FUNCTION = 60
GENERATED = ("sg_format.h", "sg_machine.h")  # by runtime.format_source and runtime.machine_source


def sources(root: Path) -> list[Path]:
    return sorted((root / "scalegraph").rglob("*.py"))


def sources_of_c(root: Path) -> list[Path]:
    found = (path for kind in ("*.c", "*.h") for path in (root / "scalegraph").rglob(kind))
    return sorted(path for path in found if path.name not in GENERATED)


def functions_of_c(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line of each function; clang-format puts its outer braces into the first column."""
    begin = 0
    for number, line in enumerate(lines, 1):
        if line == "{":
            first = number - 1
            while lines[first - 2].strip() and not lines[first - 2].endswith(("*/", ";", "}", "\\")):
                first -= 1
            begin = first
        elif line == "}" and begin:
            yield begin, number
            begin = 0


def long_functions_of_c(path: Path, most: int) -> dict[str, int]:
    lines = path.read_text("utf-8").splitlines()
    lengths = {f"{path.name}:{first} {lines[first - 1]}": last - first + 1 for first, last in functions_of_c(lines)}
    return {name: length for name, length in lengths.items() if length > most}


@pytest.mark.slow
def test_no_source_file_is_longer_than_five_hundred_lines(root: Path) -> None:
    files = [*sources(root), *sources_of_c(root)]
    lengths = {str(path.relative_to(root)): len(path.read_text("utf-8").splitlines()) for path in files}
    assert len(lengths) > 600
    assert {path: length for path, length in lengths.items() if length > MOST_LINES} == {}


@pytest.mark.slow
def test_no_function_is_longer_than_sixty_lines(root: Path) -> None:
    long = {}
    for path in sources(root):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MOST_OF_A_FUNCTION:
                    long[f"{path.relative_to(root)}:{node.lineno} {node.name}"] = length
    assert long == {}


@pytest.mark.slow
def test_no_function_of_c_is_longer_than_sixty_lines(root: Path) -> None:
    files = sources_of_c(root)
    found = [span for path in files for span in functions_of_c(path.read_text("utf-8").splitlines())]
    assert len(found) > 1000
    assert {name: size for path in files for name, size in long_functions_of_c(path, MOST_OF_A_FUNCTION).items()} == {}


def test_a_long_function_of_c_is_found(tmp_path: Path) -> None:
    source = tmp_path / "long.c"
    body = "    call();\n" * 4
    source.write_text(f"int before;\n\n/* Why. */\nstatic int of(int a,\n              int b)\n{{\n{body}}}\n")
    assert long_functions_of_c(source, 7) == {"long.c:4 static int of(int a,": 8}
    assert long_functions_of_c(source, 8) == {}


def test_the_formatter_lays_out_everything_but_a_few_tables(root: Path) -> None:
    folders = ("scalegraph", "tests", "docs", "benchmarks")
    mark = "# fmt: " + "skip"
    files = [path for folder in folders for path in sorted((root / folder).rglob("*.py"))]
    kept = sum(path.read_text("utf-8").count(mark) for path in files)
    assert kept <= 30, "lay out code as ruff does; only a table of many short values stays as it is"
