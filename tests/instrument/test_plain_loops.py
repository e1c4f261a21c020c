"""Loops whose code differs without hooks: found, matched and charged as without hooks."""

from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import pytest

from scalegraph import machine
from scalegraph.base.cancel import CancelToken
from scalegraph.base.run import RunPoint
from scalegraph.control import build
from scalegraph.instrument import replaced as replacing
from scalegraph.instrument.effects import effects
from scalegraph.instrument.flow import Instruction
from scalegraph.instrument.operations import decode
from scalegraph.instrument.pipeline import execute
from scalegraph.instrument.places import source_name
from scalegraph.instrument.plain_loops import Loop, PlainByNeed, plain_code
from scalegraph.instrument.steps import plain_steps
from scalegraph.instrument.strides import Decoded, Reference, references
from scalegraph.instrument.timed import timing
from scalegraph.link import Build, Job, Simulated
from scalegraph.runtime.compiler import find_compiler

LOOPS = """\
#include <stdio.h>
#include <stdlib.h>
#define APART __attribute__((noinline, noclone, noipa))
APART void triad(double *restrict x, const double *restrict y, const double *restrict z, long n)
{
    for (long i = 0; i < n; i++)
        x[i] = y[i] + 3.0 * z[i];
}
APART void narrow(float *restrict x, const float *restrict y, const float *restrict z, long n)
{
    for (long i = 0; i < n; i++)
        x[i] = y[i] + 3.0f * z[i];
}
APART int sum(const int *x, long n)
{
    int s = 0;
    for (long i = 0; i < n; i++)
        s += x[i];
    return s;
}
APART void widen(double *restrict x, const float *restrict y, long n)
{
    for (long i = 0; i < n; i++)
        x[i] = 2.0 * y[i];
}
APART void dependent(double *x, long n)
{
    for (long i = 1; i < n; i++)
        x[i] = 0.5 * x[i - 1] + x[i];
}
APART int gathered(const int *restrict x, const int *restrict at, long n)
{
    int s = 0;
    for (long i = 0; i < n; i++)
        s += x[at[i]];
    return s;
}
int main(void)
{
    enum { N = 1000 };
    double *a = calloc(3 * N, sizeof *a);
    float *b = calloc(3 * N, sizeof *b);
    int *c = calloc(2 * N, sizeof *c);
    triad(a, a + N, a + 2 * N, N);
    narrow(b, b + N, b + 2 * N, N);
    widen(a, b, N);
    dependent(a, N);
    printf("%g %g %d %d\\n", a[7], b[7], sum(c, N), gathered(c, c + N, N));
    return 0;
}
"""

pytestmark = [pytest.mark.slow, pytest.mark.compiler]


@pytest.fixture(scope="module")
def host() -> machine.Machine:
    """Return a machine with a pipeline, with values like those of a current processor."""
    pipeline = {
        "window": 224,
        "scheduler": 97,
        "int_alu": 1,
        "int_mul": 3,
        "load": 5,
        "forward": 1,
        "forward_fp": 6,
        "fp_add": 4,
        "fp_mul": 4,
        "fp_fma": 4,
        "fp_div": 13,
        "fp_sqrt": 18,
        "fp_other": 6,
        "issue": 0.25,
    }
    changes = {f"processor.pipeline.{key}": str(value) for key, value in pipeline.items()}
    return machine.load("server-2x32-inorder", {"processor.out_of_order": "true", **changes})


def built(place: Path, flags: str, text: str = LOOPS) -> Build:
    path = place / "loops.c"
    path.write_text(text)
    return build([path], cflags=flags)


def rounds(program: Build, host: machine.Machine, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Return how many iterations of each function's loop one iteration of its plain code replaces."""
    found: dict[str, int] = {}
    original = replacing.PlainLoops.replaced

    def noted(self: replacing.PlainLoops, function, outline):
        replaced = original(self, function, outline)
        found.update((function.name, one.rounds) for one in replaced)
        return replaced

    monkeypatch.setattr(replacing.PlainLoops, "replaced", noted)
    assert program.plain is not None
    timing(program.executable, host.processor, program.lines, program.plain(CancelToken()))
    return found


def is_gcc_for_x86_64() -> bool:
    compiler = find_compiler()
    return not compiler.clang and compiler.architecture == "x86_64"


needs_gcc = pytest.mark.skipif("not __import__('sys').modules[__name__].is_gcc_for_x86_64()", reason="gcc for x86-64")


@needs_gcc
@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("-O3", {"triad": 2, "narrow": 4, "sum": 4, "widen": 4}),
        ("-O3 -mavx2 -mprefer-vector-width=256", {"triad": 4, "narrow": 8, "sum": 8, "widen": 8}),
        ("-O3 -mavx512f -mprefer-vector-width=512", {"triad": 8, "narrow": 16, "sum": 16, "widen": 16}),
        ("-O3 -fno-tree-vectorize", dict.fromkeys(("triad", "narrow", "sum", "widen"), 1)),
        ("-O1", dict.fromkeys(("triad", "narrow", "sum", "widen"), 1)),
    ],
)
def test_rounds_that_plain_code_replaces(
    tmp_path: Path, host: machine.Machine, monkeypatch: pytest.MonkeyPatch, flags: str, expected: dict[str, int]
) -> None:
    found = rounds(built(tmp_path, flags), host, monkeypatch)
    found.pop("gathered", None)  # vector code if there are gather instructions
    assert found == expected | {"dependent": 1}


@needs_gcc
def test_gathers_are_matched_by_their_indices(
    tmp_path: Path, host: machine.Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = rounds(built(tmp_path, "-O3 -mavx2 -mtune=skylake -mprefer-vector-width=256"), host, monkeypatch)
    assert found["gathered"] == 8


@needs_gcc
def test_loops_cost_what_they_do_without_hooks_and_their_branches_are_the_same(
    tmp_path: Path, host: machine.Machine
) -> None:
    program = built(tmp_path, "-O3")
    assert program.plain is not None
    scalar = timing(program.executable, host.processor)
    vector = timing(program.executable, host.processor, program.lines, program.plain(CancelToken()))
    changed = {address for address in scalar.cycles if scalar.cycles[address] != vector.cycles[address]}
    functions = {place.function for place in program.lines.lookup(sorted(changed))}
    assert functions - {"gathered", "main"} == {"triad", "narrow", "sum", "widen", "dependent"}
    assert sum(vector.cycles[address] for address in changed) < sum(scalar.cycles[address] for address in changed)
    assert vector.predicted == scalar.predicted
    assert vector.loads.keys() == scalar.loads.keys()


@needs_gcc
def test_loop_with_branches_is_charged_at_one_block_and_its_branches_are_foreseen(
    tmp_path: Path, host: machine.Machine
) -> None:
    text = """\
__attribute__((noipa)) void clip(double *x, const double *y, long n)
{
    for (long i = 0; i < n; i++)
        if (y[i] > 1.0)
            x[i] = 1.0;
        else
            x[i] = 2 * y[i];
}
double a[500], b[500];
int main(void)
{
    clip(a, b, 500);
    return a[7] > 1;
}
"""
    program = built(tmp_path, "-O3 -mavx2 -fno-trapping-math", text)
    assert program.plain is not None
    scalar = timing(program.executable, host.processor)
    vector = timing(program.executable, host.processor, program.lines, program.plain(CancelToken()))
    of_clip = [address for address in scalar.cycles if program.lines.lookup([address])[0].function == "clip"]
    in_loop = [address for address in of_clip if program.lines.lookup([address])[0].line > 3]
    changed = [address for address in in_loop if scalar.cycles[address] != vector.cycles[address]]
    assert sum(vector.cycles[address] > 0 for address in changed) == 1
    assert len(vector.predicted) < len(scalar.predicted)


@needs_gcc
def test_loop_with_branches_that_stay_takes_what_the_plain_one_does(tmp_path: Path, host: machine.Machine) -> None:
    text = """\
__attribute__((noipa)) void change(double *x, const double *y, const char *wanted, long n)
{
    for (long i = 0; i < n; i++)
        if (wanted[i])
            x[i] -= 3.0 * y[i] * y[i + 1];
}
double a[500], b[501];
char c[500];
int main(void)
{
    change(a, b, c, 500);
    return a[7] > 1;
}
"""
    program = built(tmp_path, "-O2", text)
    assert program.plain is not None
    plain = program.plain(CancelToken())
    (loop,) = [one for one in plain_code(plain).loops if one.loop.function == "change"]
    hooked = timing(program.executable, host.processor)
    both = timing(program.executable, host.processor, program.lines, plain)
    of_change = [at for at in both.cycles if program.lines.lookup([at])[0].function == "change"]
    changed = {at: both.cycles[at] / hooked.cycles[at] for at in of_change if both.cycles[at] != hooked.cycles[at]}
    inside = [at for at in of_change if program.lines.lookup([at])[0].line in (3, 4, 5)]
    assert len(loop.way) > 1
    assert changed.keys() <= set(inside)
    assert max(changed.values()) == pytest.approx(min(changed.values()))  # distributed as with hooks
    taken = sum(execute(loop.code.ways.bodies(loop.way), host.processor).cycles)
    assert sum(both.cycles[at] for at in changed) == pytest.approx(taken, abs=0.01)
    assert both.predicted == hooked.predicted  # its branches stay


@needs_gcc
def test_value_that_stays_in_a_register_without_hooks_is_not_charged_as_stored_and_loaded(
    tmp_path: Path, host: machine.Machine
) -> None:
    program = built(tmp_path, "-O2")
    assert program.plain is not None
    hooked = timing(program.executable, host.processor)
    both = timing(program.executable, host.processor, program.lines, program.plain(CancelToken()))
    of_loop = [at for at in both.cycles if program.lines.lookup([at])[0].function == "dependent"]
    pipeline = host.processor.pipeline
    chain = pipeline.fp_add + pipeline.fp_mul
    assert max(both.cycles[at] for at in of_loop) == pytest.approx(chain, abs=0.1)
    assert max(hooked.cycles[at] for at in of_loop) > chain + 0.5 * pipeline.forward_fp


@pytest.mark.parametrize(("start", "lines"), [(59, [1, 1]), (60, [2, 2]), (61, [1, 1]), (62, [2, 2]), (64, [2, 2])])
def test_line_of_code_of_a_jump_and_its_comparison(start: int, lines: list[int]) -> None:
    code = bytes.fromhex("4839d0 75f8")  # cmp rax, rdx; jne
    chunk = [Instruction(start, 3, decode("cmp", "rax, rdx")), Instruction(start + 3, 2, decode("jne", "0x0"))]
    steps = plain_steps(chunk, effects(code, start, chunk, lambda _address: False))
    assert [step.line for step in steps] == lines


@needs_gcc
def test_run_takes_less_on_a_pipeline_and_the_same_elsewhere(tmp_path: Path, host: machine.Machine) -> None:
    def cycles(program: Build, on: machine.Machine) -> int | None:
        record = Simulated().run(Job(program, on, RunPoint(processors=1)))
        assert record.status == "ok"
        assert not any("the code with hooks" in remark for remark in record.warnings)
        return record.time_cycles

    program = built(tmp_path, "-O3")
    (tmp_path / "scalar").mkdir()
    scalar = built(tmp_path / "scalar", "-O3 -fno-tree-vectorize")
    assert (fast := cycles(program, host)) is not None
    assert (slow := cycles(scalar, host)) is not None
    assert fast < slow - 2000
    other = machine.load("server-2x32-inorder")
    assert cycles(program, other) == cycles(scalar, other)


@needs_gcc
def test_plain_build_is_made_once_and_only_for_a_machine_with_a_pipeline(
    tmp_path: Path, host: machine.Machine, empty_cache: Path
) -> None:
    program = built(tmp_path, "-O3")
    Simulated().run(Job(program, machine.load("server-2x32-inorder"), RunPoint(processors=1)))
    assert not (empty_cache / "plain").exists()
    Simulated().run(Job(program, host, RunPoint(processors=1)))
    (made,) = (empty_cache / "plain").glob("[0-9a-f]*")
    before = (made / "program").stat()
    Simulated().run(Job(built(tmp_path, "-O3"), host, RunPoint(processors=1)))
    assert (made / "program").stat().st_ino == before.st_ino


@needs_gcc
def test_functions_read_by_need_are_those_read_at_once(tmp_path: Path) -> None:
    program = built(tmp_path, "-O3")
    assert program.plain is not None
    plain = program.plain(CancelToken())
    whole, needed = plain_code(plain), PlainByNeed(plain)
    assert len(whole.loops) > 5
    for name in (*whole.outside, "none"):
        assert needed.outside_of(name) == whole.outside_of(name)
        assert [one.at for one in needed.named(source_name(name))] == [one.at for one in whole.named(source_name(name))]
    for lines in (*(one.loop.lines for one in whole.loops), {("none", 1)}):
        assert {(one.at, one.way) for one in needed.on(lines)} == {(one.at, one.way) for one in whole.on(lines)}
        assert needed.covers(lines) == whole.covers(lines)


@needs_gcc
def test_program_without_a_plain_build_runs_with_a_remark(tmp_path: Path, host: machine.Machine) -> None:
    program = replace(built(tmp_path, "-O3"), plain=None)
    record = Simulated().run(Job(program, host, RunPoint(processors=1)))
    assert record.status == "ok"
    assert any("charged as the code with hooks" in remark for remark in record.warnings)


def loop(*references: Reference, lines: tuple[int, ...] = (2,), kinds: str = "d") -> Loop:
    return Loop(
        "f", frozenset(("f.c", line) for line in lines), references, (("f.c", 2),) * len(references), frozenset(kinds)
    )


def vector(*found: Reference, kinds: str = "d") -> replacing.PlainLoop:
    return replacing.PlainLoop(loop(*found, kinds=kinds), None, (0,), 0)  # type: ignore[arg-type]


LOAD, STORE = Reference(1, 8, False, 8), Reference(2, 8, True, 8)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([Reference(1, 16, False, 16), Reference(2, 16, True, 16)], 2),
        ([Reference(1, 32, False, 64), Reference(2, 32, True, 64), Reference(3, 32, True, 64)], 8),
        ([Reference(1, 16, False, -16), Reference(2, 16, True, -16)], 2),  # from the end
        ([Reference(1, 16, False, 16), Reference(2, 16, True, 32)], None),  # two ratios
        ([Reference(1, 16, False, 16), Reference(2, 8, True, 16)], None),  # stores only half of it
        ([Reference(1, 16, False, 12), Reference(2, 16, True, 12)], None),  # one and a half
        ([Reference(1, 16, False, None), Reference(2, 16, True, None)], None),
    ],
)
def test_strides_and_bytes_must_agree(found: list[Reference], expected: int | None) -> None:
    matched = replacing.match(loop(LOAD, STORE), [vector(*found)])
    assert (matched and matched[1]) == expected


def test_loops_with_other_numbers_or_lines_are_others() -> None:
    double = [Reference(1, 16, False, 16), Reference(2, 16, True, 16)]
    assert replacing.match(loop(LOAD, STORE), [vector(*double, kinds="s")]) is None
    moved = replacing.PlainLoop(replace(loop(*double, lines=(7,)), at=(("f.c", 7),) * 2), None, (0,), 0)  # type: ignore[arg-type]
    assert replacing.match(loop(LOAD, STORE), [moved]) is None


def test_main_loop_comes_before_what_does_the_rest() -> None:
    main = vector(Reference(1, 64, False, 64), Reference(2, 64, True, 64))
    rest = vector(Reference(1, 16, False, 16), Reference(2, 16, True, 16))
    matched = replacing.match(loop(LOAD, STORE), [rest, main])
    assert matched is not None
    assert (matched[0] is main, matched[1]) == (True, 8)


@pytest.mark.parametrize("turned", [False, True])
def test_of_equal_loops_the_one_with_more_lines_in_common_is_it_in_any_order(turned: bool) -> None:
    whole = replacing.PlainLoop(loop(LOAD, STORE, lines=(2, 3)), None, (64,), 64)  # type: ignore[arg-type]
    others = [replacing.PlainLoop(loop(LOAD, STORE, lines=(2, 9)), None, (at,), at) for at in (0, 128)]  # type: ignore[arg-type]
    for candidates, expected in (([whole, *others], whole), (others, others[0])):
        matched = replacing.match(loop(LOAD, STORE, lines=(2, 3)), candidates[::-1] if turned else candidates)
        assert matched is not None
        assert matched[0] is expected


@pytest.mark.parametrize(
    ("code", "strides"),
    [
        ("f20f1007 4883c708", [8]),  # movsd xmm0, [rdi]; add rdi, 8
        ("f20f1004c7 48ffc0", [8]),  # movsd xmm0, [rdi + 8*rax]; inc rax
        ("488d0cc7 f20f1001 4883c002", [16]),  # lea rcx, [rdi + 8*rax]; movsd xmm0, [rcx]; add rax, 2
        ("4889c1 48c1e104 f20f10040f 48ffc8", [-16]),  # mov rcx, rax; shl rcx, 4; movsd [rdi + rcx]; dec rax
        ("488b7f08 f20f1007", [None, None]),  # mov rdi, [rdi + 8]: along a list
        ("488b0f f20f1004c1 48ffc0", [0, 8]),  # mov rcx, [rdi]: the same pointer every time
    ],
)
def test_strides_of_machine_code(code: str, strides: list[int | None]) -> None:
    pieces = [bytes.fromhex(piece) for piece in code.split()]
    at = [*accumulate(map(len, pieces[:-1]), initial=0)]
    assert [one.stride for one in references(at, Decoded(b"".join(pieces), 0))] == strides
