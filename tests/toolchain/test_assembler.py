"""Inlined hooks: what is inserted where, for all options and languages of a build."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from scalegraph.instrument.blocks import block_costs, lines, probe_report
from scalegraph.runtime.compiler import Language, find_compiler
from scalegraph.toolchain.inlining import INLINE, SLOTS, build_assembler, may_inline
from tests.toolchain.conftest import Run, need

PROBE = "\tcall\t__sanitizer_cov_trace_pc\n"
READ = "\tmovq\t%rbx, %rdi\n\tcall\t__tsan_read8\n"
LINKED = SLOTS.encode()
TABLE = ".debug_scalegraph"

SUM = """
int values[100];
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += values[i] += i;
    return sum != 4950;
}
"""


@cache
def built(behind: str) -> Path:
    """Return our assembler in front of the program *behind*."""
    target = Path(mkdtemp()) / "as"
    build_assembler(find_compiler(), behind, target)
    return target


def rewritten(text: str) -> str:
    """Return what our assembler passes on for *text*."""
    return subprocess.run([built("cat"), "-"], input=text, capture_output=True, text=True, check=True).stdout


def test_segments_end_at_labels_jumps_and_calls() -> None:
    text = rewritten(f"f:\n{PROBE}{READ}.LVL3:\n{READ}\tcall\tg\n{READ}{READ}\tje\t.L2\n{READ}.L2:\n{PROBE}{READ}")
    slots = re.findall(r"\.long\t\d+, (\.Lsg_slot\d+), (\d)", text)
    order = list(dict.fromkeys(slot for slot, _ in slots))
    assert [(order.index(slot), kind) for slot, kind in slots] == [
        (0, "1"),
        (0, "2"),
        (0, "2"),
        (1, "4"),
        (1, "2"),
        (1, "2"),
        (2, "4"),
        (2, "2"),
        (3, "1"),
        (3, "2"),
    ]
    assert text.count("incq") == 4
    assert text.count("\tcall\t__tsan_read8_late\n") == 6


def test_what_a_group_of_sections_holds_goes_with_it() -> None:
    text = rewritten(f'\t.section\t.text._Zf,"axG",@progbits,_Zf,comdat\n{PROBE}\t.text\n{PROBE}')
    assert f'\t.section\t{SLOTS},"awG",@progbits,_Zf,comdat' in text
    assert f'\t.section\t{TABLE},"G",@progbits,_Zf,comdat' in text
    assert f'\t.section\t{SLOTS},"aw",@progbits\n' in text


@pytest.mark.parametrize(
    "call",
    [
        "jmp\t__tsan_write8",
        "call\t__tsan_read16",
        "call\t__tsan_unaligned_read4",
        "call\t__tsan_atomic32_load",
        "call\t*%rax",
    ],
)
def test_other_hooks_and_jumps_to_hooks_stay(call: str) -> None:
    text = rewritten(f"{PROBE}\t{call}\n")
    assert f"\t{call}\n" in text


def test_code_of_inline_assembly_stays_and_ends_a_segment() -> None:
    inside = '#APP\n# 3 "a.c" 1\n\tcall\t__tsan_read8\n# 0 "" 2\n#NO_APP\n'
    text = rewritten(f"{PROBE}{inside}{READ}")
    assert inside in text
    assert ", 4\n" in text


@pytest.mark.parametrize("text", ["\t.intel_syntax noprefix\n" + PROBE, "f:\n\tret\n"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert rewritten(text) == text


def test_a_file_that_does_not_assemble_is_complained_about_as_it_was(tmp_path: Path) -> None:
    source = tmp_path / "a.s"
    source.write_text(f"{PROBE}\twrong\n")
    done = subprocess.run(
        [built("as"), "--64", "-o", tmp_path / "a.o", source], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "a.s:2: Error: no such instruction: `wrong'" in done.stderr


needs_inline = pytest.mark.skipif(
    not may_inline(find_compiler()), reason="hooks are put in line by gcc for x86-64 only"
)


@pytest.fixture(autouse=True)
def wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enable inlined hooks, unless a test says otherwise."""
    monkeypatch.setenv(INLINE, "1")


@needs_inline
def test_the_code_in_line_is_as_long_as_the_table_says(tmp_path: Path) -> None:
    text = rewritten(f"{PROBE}{READ}{READ.replace('read', 'write')}f:\n{READ}\tcall\t__tsan_func_exit\n\tret\n")
    sizes = re.findall(r"\.quad\t\.Lsg_from(\d+)\n\t\.long\t(\d+)", text)
    assert len({size for _, size in sizes}) == 5  # of all kinds
    for number, size in sizes:
        checked = f".if . - .Lsg_from{number} - {size}\n.error\n.endif\n"
        code = r"(.*?call\t\w+_late\n)" if size not in ("5", "18") else r"(.*?(?:incq.*?|\.byte.*?)\n)"
        text = re.sub(rf"(\.Lsg_from{number}:\n){code}", rf"\1\2{checked}", text, count=1, flags=re.DOTALL)
    assert text.count(".error") == len(sizes)
    subprocess.run(["as", "--64", "-o", tmp_path / "a.o"], input=text, text=True, check=True)


@pytest.mark.slow(3)
@pytest.mark.compiler
@needs_inline
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["-pipe"],
        ["-save-temps"],
        ["-O0"],
        ["-O3", "-g3"],
        ["-ffunction-sections"],
        ["-fno-asynchronous-unwind-tables"],
        ["-fverbose-asm"],
    ],
)
def test_builds_have_hooks_in_line_and_run(options: list[str], run: Run, tmp_path: Path) -> None:
    (tmp_path / "sum.c").write_text(SUM)
    run("scalegraph-cc", *options, "-c", "sum.c")
    assert LINKED in (tmp_path / "sum.o").read_bytes()
    run("scalegraph-cc", "sum.o", "-Wl,--gc-sections", "-o", "sum")
    run("./sum")
    assert probe_report(tmp_path / "sum").complete


@pytest.mark.slow(3)
@pytest.mark.compiler
@needs_inline
def test_assembler_output_has_calls_and_its_objects_have_hooks_in_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sum.c").write_text(SUM)
    run("scalegraph-cc", "-S", "sum.c")
    assert "_late" not in (tmp_path / "sum.s").read_text()
    run("scalegraph-cc", "sum.s", "-o", "sum")
    run("./sum")
    assert LINKED in (tmp_path / "sum").read_bytes()


@pytest.mark.slow(3)
@pytest.mark.compiler
@needs_inline
def test_a_variable_of_the_environment_turns_it_off(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sum.c").write_text(SUM)
    monkeypatch.setenv(INLINE, "0")
    run("scalegraph-cc", "sum.c", "-o", "sum")
    assert LINKED not in (tmp_path / "sum").read_bytes()
    monkeypatch.setenv(INLINE, "yes")
    said = run("scalegraph-cc", "-c", "sum.c", code=1).stderr
    assert said == "scalegraph-cc: error: SCALEGRAPH_INLINE=yes: expected 0 or 1\n"


@pytest.mark.slow(3)
@pytest.mark.compiler
@needs_inline
def test_a_stripped_program_runs_by_itself(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sum.c").write_text(SUM)
    run("scalegraph-cc", "sum.c", "-o", "sum")
    run("strip", "sum")
    run("./sum")


TEMPLATES = """
#include <vector>
template <class T> __attribute__((noinline)) T total(const std::vector<T> &values)
{
    T sum{};
    for (const T &value : values)
        sum += value;
    return sum;
}
"""


@pytest.mark.slow(3)
@pytest.mark.compiler
@needs_inline
def test_functions_that_several_objects_have_are_counted_once(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("g++")
    (tmp_path / "total.h").write_text(TEMPLATES)
    for name, other in (("one", ""), ("two", "int one();\nint main() { return one() + two() - 20; }\n")):
        text = f'#include "total.h"\nint {name}() {{ return total(std::vector<int>(5, 2)); }}\n{other}'
        (tmp_path / f"{name}.cpp").write_text(text)
    costs = []
    for value in ("0", "1"):
        monkeypatch.setenv(INLINE, value)
        run("scalegraph-c++", "-O2", "one.cpp", "two.cpp", "-o", f"p{value}")
        run(f"./p{value}")
        found = block_costs(tmp_path / f"p{value}")
        places = lines(tmp_path / f"p{value}").lookup(sorted(found))
        costs.append([(*place, *found[address]) for place, address in zip(places, sorted(found), strict=True)])
    assert costs[0] == costs[1]


@pytest.mark.slow(3)
@pytest.mark.compiler
@needs_inline
@pytest.mark.parametrize("language", ["c", "c++", "fortran"])
def test_the_compiler_of_each_language_builds_the_assembler(language: Language, tmp_path: Path) -> None:
    need({"c": "gcc", "c++": "g++", "fortran": "gfortran"}[language])
    build_assembler(find_compiler(language), "as", tmp_path / "as")


@pytest.mark.slow(3)
@pytest.mark.compiler
@needs_inline
def test_fortran_has_hooks_in_line(run: Run, tmp_path: Path) -> None:
    need("gfortran")
    text = """program sums
  integer :: i, values(100)
  values = 0
  do i = 1, 100
    values(i) = values(i) + i
  end do
  if (sum(values) /= 5050) stop 1
end program
"""
    (tmp_path / "sums.f90").write_text(text)
    run("scalegraph-fc", "-O2", "sums.f90", "-o", "sums")
    run("./sums")
    assert LINKED in (tmp_path / "sums").read_bytes()
