"""Addresses of static data do not depend on the size of our own code, and so neither do lines, pages and sets."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError
from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.library import Library, library
from scalegraph.toolchain.linking import link

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

PROGRAM = """
#include <stdio.h>
int values[1000] = {1, 2, 3};
double zeroes[100000];
const int constants[100] = {4, 5};
static const char *names[] = {"a", "b"};
int main(void)
{
    zeroes[1] = values[2];
    puts(names[constants[0] == 5]);
    return 0;
}
"""
LARGER = """
long sg_of_the_test(long n) {{ {code} return n; }}
char sg_of_the_test_values[300001] = {{1}}, sg_of_the_test_zeroes[500009];
const char sg_of_the_test_constants[200003] = {{1}};
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return an object that is a complete program."""
    return compiled(tmp_path, "program", PROGRAM)


def compiled(place: Path, name: str, text: str) -> Path:
    source = place / f"{name}.c"
    source.write_text(text)
    target = place / f"{name}.o"
    subprocess.run([*find_compiler().command, "-c", "-fno-pie", str(source), "-o", str(target)], check=True)
    return target


def linked(runtime: Library, target: Path, *arguments: str) -> Path:
    link(find_compiler(), runtime, arguments, target, names={}, cwd=target.parent, cancel=CancelToken())
    return target


def addresses(program: Path) -> dict[str, int]:
    """Return the addresses of the program's own variables."""
    lines = subprocess.run(["nm", str(program)], check=True, capture_output=True, text=True).stdout.splitlines()
    found = {name: int(place, 16) for place, _, name in (line.split() for line in lines if line[0] != " ")}
    return {name: found[name] for name in ("values", "zeroes", "constants", "names")}


def test_a_larger_runtime_moves_no_data_of_the_program(program: Path, tmp_path: Path) -> None:
    ours = library(find_compiler())
    more = compiled(tmp_path, "larger", LARGER.format(code="n = n * 3 + 1; " * 5000))
    larger = replace(ours, link_flags=(*ours.link_flags, "-Wl,-u,sg_of_the_test", str(more)))
    usual = addresses(linked(ours, tmp_path / "usual", str(program)))
    assert usual == addresses(linked(larger, tmp_path / "larger", str(program)))


def test_a_program_that_places_its_data_itself_links(program: Path, tmp_path: Path) -> None:
    own = "-Wl,--section-start=.rodata=0x4000000"  # where ours would put the zeroed variables
    found = addresses(linked(library(find_compiler()), tmp_path / "own", str(program), own))
    assert 0x4000000 <= found["constants"] < 0x4100000


def test_what_does_not_link_is_complained_of_once(tmp_path: Path) -> None:
    missing = compiled(tmp_path, "missing", "int nowhere(void); int main(void) { return nowhere(); }")
    with pytest.raises(BuildError) as caught:
        linked(library(find_compiler()), tmp_path / "missing", str(missing))
    assert caught.value.output.count("undefined reference") == 1
