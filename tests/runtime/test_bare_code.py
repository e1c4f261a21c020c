"""The copy of the code without hooks that skipped visits execute: same results, and crashes have their place."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from scalegraph import machine
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.base.sampling import SAMPLES_WHEN_LONG
from scalegraph.control import build
from scalegraph.link import Job, Limits, Simulated
from scalegraph.runtime.compiler import find_compiler
from scalegraph.toolchain.inlining import may_inline

pytestmark = [
    pytest.mark.slow,
    pytest.mark.compiler,
    pytest.mark.skipif(not may_inline(find_compiler()), reason="hooks are put in line by gcc for x86-64 only"),
]

CORE = Path(__file__).parent.parent.parent / "scalegraph" / "runtime" / "csrc" / "core"

# Prints the kind and the length of each instruction, given as hexadecimal bytes, and where its relative address is.
LENGTHS = """
    #include <stdio.h>
    #include "sg_instruction.h"
    int main(void)
    {
        char line[256];
        while (fgets(line, sizeof line, stdin)) {
            unsigned char code[64] = {0};
            for (int i = 0; line[2 * i] > ' '; i++)
                sscanf(&line[2 * i], "%2hhx", &code[i]);
            sg_instruction in = sg_instruction_at(code);
            printf("%d %d %d\\n", in.kind, in.length, in.relative_at);
        }
        return 0;
    }"""
UNKNOWN, PLAIN, BRANCH, JUMP, CALL, END = range(6)

# Jump tables, recursion, exceptions through several frames, long jumps, variable shifts, text, vectors of its own.
MIXED = """
    #include <cmath>
    #include <csetjmp>
    #include <cstdio>
    #include <cstring>
    #include <stdexcept>
    #include <string>
    #include <vector>
    static unsigned long mixed(unsigned long x, int kind)
    {
        switch (kind) {
        case 0: return x * 3;
        case 1: return x ^ x >> 7;
        case 2: return x + (x << 3);
        case 3: return ~x;
        case 4: return x / 3;
        case 5: return x % 1000003;
        case 6: return __builtin_popcountl(x);
        default: throw std::runtime_error("odd");
        }
    }
    static int depth(int n) { return n < 2 ? n : depth(n - 1) + depth(n - 2); }
    static double sums[64];
    static long counts[64];
    int main()
    {
        for (int step = 0; step < 200; step++) {
    #pragma omp parallel for schedule(static)
            for (int i = 0; i < 64; i++) {
                unsigned long x = i + 1;
                jmp_buf back;
                std::vector<unsigned long> found;
                for (int k = 0; k < 40; k++) {
                    try {
                        x = mixed(x + k, (i + k) % 8);
                    } catch (const std::exception &e) {
                        x += std::strlen(e.what());
                    }
                    found.push_back(x);
                }
                if (setjmp(back) == 0)
                    longjmp(back, 1 + depth(8));
                std::string text = std::to_string(found.back());
                for (unsigned long one : found)
                    sums[i] += std::sqrt((double)(one % 4096)) * (one & 1 ? 0.5 : -0.25);
                counts[i] += (long)text.size() + (long)(found[step % 40] >> (step & 63));
            }
        }
        double sum = 0;
        long count = 0;
        for (int i = 0; i < 64; i++) {
            sum += sums[i];
            count += counts[i];
        }
        std::printf("%.17g %ld\\n", sum, count);
    }"""

# Late in the run, in a visit that would be skipped, there is no memory at the address.
CRASH = """
    static double a[8192], *place[4000];
    int main(void)
    {
        for (int s = 0; s < 4000; s++)
            place[s] = s == 3333 ? (double *)64 : a;
        for (int s = 0; s < 4000; s++) {
    #pragma omp parallel for schedule(static)
            for (int i = 0; i < 8192; i++)
                a[i] = a[i] * 0.5 + i;
    #pragma omp parallel for schedule(static)
            for (int i = 0; i < 64; i++)
                place[s][i] += s; /* here */
        }
        return 0;
    }"""


# The handler of a fault throws, which the code around the access catches.
THROWN = """
    #include <csignal>
    #include <cstdio>
    #include <sys/mman.h>
    static long a[4096];
    static char *page;
    static void fail(int) { throw 7; }
    int main()
    {
        struct sigaction action {};
        action.sa_handler = fail;
        action.sa_flags = SA_NODEFER;
        sigaction(SIGSEGV, &action, nullptr);
        page = (char *)mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        long caught = 0;
        for (int step = 0; step < 250; step++) {
    #pragma omp parallel for schedule(static) reduction(+ : caught)
            for (int i = 0; i < 64; i++) {
                for (int k = 0; k < 64; k++)
                    a[i * 64 + k] += k * i;
                try {
                    a[i * 64] += *(volatile char *)(page + i);
                } catch (int number) {
                    caught += number;
                }
            }
        }
        std::printf("%ld\\n", caught);
    }"""


def _run(text: str, source: Path, processors: int = 8, flags: str = "") -> RunRecord:
    source.write_text(text)
    return Simulated().run(
        Job(
            build([source], cflags=flags),
            machine.load("server-2x32"),
            RunPoint(processors=processors),
            limits=Limits(time_s=120),
            collect=(SAMPLES_WHEN_LONG,),
            sample_after=10_000_000,
        )
    )


def _instructions(file: Path) -> list[tuple[str, str]]:
    """Return the instructions of *file* as objdump sees them: bytes in hexadecimal, and text."""
    table = subprocess.run(
        ["objdump", "-d", "-w", "--insn-width=16", "--no-addresses", str(file)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = (re.match(r"\s*((?:[0-9a-f]{2} )+)\s*\t?(\S.*)", line) for line in table.splitlines())
    return list(dict.fromkeys((row[1].replace(" ", ""), row[2]) for row in rows if row))


def _kind(text: str) -> int:
    words = [word for word in text.split() if word not in {"bnd", "notrack", "rep", "repz", "data16", "cs", "rex.W"}]
    name = words[0].removesuffix("q") if words else ""
    if name == "call":
        return CALL
    if name == "ret" or (name == "jmp" and words[1].startswith("*")):
        return END
    return JUMP if name == "jmp" else BRANCH if name.startswith("j") else PLAIN


@pytest.fixture
def lengths(tmp_path: Path) -> Path:
    source, program = tmp_path / "lengths.c", tmp_path / "lengths"
    source.write_text(LENGTHS)
    command = ["gcc", f"-I{CORE}", str(source), str(CORE / "sg_instruction.c"), "-o", str(program)]
    subprocess.run(command, check=True)
    return program


def test_lengths_of_instructions_are_those_of_objdump(lengths: Path) -> None:
    libraries = subprocess.run(["ldd", str(lengths)], capture_output=True, text=True, check=True).stdout
    files = [lengths, *map(Path, re.findall(r"=> (/\S+)", libraries))]
    rows = [row for file in files for row in _instructions(file)]
    assert len(rows) > 20_000  # the C library
    asked = "".join(f"{code}\n" for code, _ in rows)
    told = subprocess.run([str(lengths)], input=asked, capture_output=True, text=True, check=True).stdout.splitlines()
    unknown = 0
    for (code, text), line in zip(rows, told, strict=True):
        kind, length, relative = map(int, line.split())
        unknown += kind == UNKNOWN
        if kind in {UNKNOWN, CALL}:
            assert kind == UNKNOWN or _kind(text) == CALL, (code, text)
            continue
        assert (length, kind) == (len(code) // 2, _kind(text)), (code, text)
        assert (relative != 0) == ("(%rip)" in text), (code, text)
    assert unknown < 0.001 * len(rows)


def test_skipped_visits_compute_what_the_program_computes(tmp_path: Path) -> None:
    source = tmp_path / "mixed.cpp"
    record = _run(MIXED, source)
    assert record.status == "ok", record.message
    assert record.sampled is not None
    assert record.sampled.skipped > 0.5 * record.sampled.visits
    native = tmp_path / "native"
    subprocess.run(["g++", "-O2", "-fopenmp", str(source), "-o", str(native)], check=True)
    assert record.stdout == subprocess.run([str(native)], capture_output=True, text=True, check=True).stdout


def test_a_crash_in_a_skipped_visit_has_its_place(tmp_path: Path) -> None:
    source = tmp_path / "crash.c"
    record = _run(CRASH, source)
    line = next(i for i, text in enumerate(CRASH.splitlines(), 1) if "here" in text)
    assert record.status == "crashed"
    assert f"crash.c:{line}" in record.message, record.message


def test_the_handler_of_a_fault_in_a_skipped_visit_throws(tmp_path: Path) -> None:
    record = _run(THROWN, tmp_path / "thrown.cpp", flags="-O2 -fnon-call-exceptions")
    assert record.status == "ok", record.message
    assert record.sampled is not None
    assert record.sampled.skipped > 0.5 * record.sampled.visits
    assert record.stdout == f"{250 * 64 * 7}\n"
