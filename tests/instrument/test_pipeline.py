"""The model of an out-of-order pipeline: each limit takes effect where it must, and times of a path add up."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from scalegraph import machine
from scalegraph.base.errors import InputError
from scalegraph.base.resources import resource_dir
from scalegraph.base.run import RunPoint
from scalegraph.control import build
from scalegraph.instrument.blocks import BLOCKS_SECTION, CLOCKS_SECTION, section_of
from scalegraph.instrument.effects import Effects, Place, effects
from scalegraph.instrument.flow import Instruction
from scalegraph.instrument.operations import Operation
from scalegraph.instrument.pipeline import Step, ahead_of, execute, times
from scalegraph.instrument.timed import timed_table, timing
from scalegraph.link import Job, Simulated
from scalegraph.link.timing import timed_blocks
from scalegraph.machine.model import Processor
from scalegraph.runtime.format import BLOCK, CLOCK, HEADER, SECTION, TIMING

PIPELINE = {
    "window": 100,
    "scheduler": 100,
    "fp_mixed": 0.5,
    "int_alu": 1.0,
    "int_mul": 3.0,
    "int_div": 11.0,
    "load": 5.0,
    "forward": 1.0,
    "forward_fp": 6.0,
    "fp_add": 2.0,
    "fp_mul": 4.0,
    "fp_fma": 4.0,
    "fp_div": 14.0,
    "fp_sqrt": 13.0,
    "fp_other": 6.0,
}
COSTS = {
    "int_alu": 0.25,
    "int_mul": 1.0,
    "int_div": 6.0,
    "load": 0.5,
    "store": 0.5,
    "branch": 1.0,
    "call": 2.0,
    "fp_add": 0.5,
    "fp_mul": 0.5,
    "fp_fma": 0.5,
    "fp_div": 4.0,
    "fp_sqrt": 4.0,
    "fp_other": 1.0,
}


def processor(**changes: float) -> Processor:
    """A processor of width 4."""
    return Processor.model_validate(
        {
            "count": 1,
            "clock_mhz": 1000.0,
            "issue_width": 4,
            "operation_cycles": COSTS,
            "out_of_order": True,
            "pipeline": PIPELINE | changes,
        }
    )


def add(to: str, *reads: str) -> Step:
    return Step(1.0, ("fp_add",), reads, (to,))


def test_dependent_operations_take_their_latency() -> None:
    assert times([[add("v0", "v0")] * 10], processor()) == pytest.approx([20.0])


def test_independent_operations_take_what_their_units_need() -> None:
    body = [add(f"v{number}", f"v{number}") for number in range(8)]
    assert times([body], processor()) == pytest.approx([4.0], abs=0.1)


def test_an_addition_has_the_result_of_another_one_sooner_than_other_operations() -> None:
    move = Step(0.0, (), ("v0",), ("v0",), copies=("v0", "v0", 0))
    multiply, compare = (
        Step(1.0, ("fp_mul",), ("v0",), ("v0",)),
        Step(1.0, ("fp_add",), ("v0",), ("v0",), compares=True),
    )
    on = processor(fp_add_on=3.0)
    assert times([[add("v0", "v0")] * 10], on) == pytest.approx([20.0])
    assert times([[add("v0", "v0"), move] * 10], on) == pytest.approx([20.0])
    assert times([[add("v0", "v0"), multiply] * 10], on) == pytest.approx([70.0])
    assert times([[add("v0", "v0"), multiply] * 10], processor()) == pytest.approx([60.0])
    assert times([[add("v0", "v0"), compare] * 10], on) == pytest.approx([50.0])


@pytest.mark.parametrize("size", [20, 40, 80])
def test_floating_point_operations_wait_in_a_scheduler_of_their_own(size: int) -> None:
    # 40 dependent multiplications at a time: twice what the scheduler holds, and the chain that ends, are under way
    chain = [Step(0.0, (), (), ("v0",)), *[Step(1.0, ("fp_mul",), ("v0",), ("v0",))] * 40]
    on = processor(fp_scheduler=size, window=1000, scheduler=1000)
    assert 40 * 4.0 / times([chain], on)[0] == pytest.approx(1 + 2 * size / 40, rel=0.1)
    assert times([chain], processor(window=1000, scheduler=1000)) == pytest.approx([20.0], abs=0.5)
    # others pass by: only the window holds them up
    other = [*chain, *[Step(1.0, ("int_alu",), (), ("r0",))] * 40]
    assert times([other], on) == pytest.approx(times([chain], on), rel=0.02)


def test_an_operation_with_an_operand_in_memory_waits_in_that_scheduler_until_it_begins() -> None:
    place = Place("r1", "", 0, 0)
    chain = [Step(0.0, (), (), ("v0",)), *[Step(1.0, ("fp_mul",), ("v0", "r1"), ("v0",), place, loads=True)] * 40]
    on = processor(fp_scheduler=20, window=1000, scheduler=1000)
    assert 40 * 4.0 / times([chain], on)[0] == pytest.approx(2.0, rel=0.15)


def test_nothing_is_faster_than_it_is_issued() -> None:
    body = [Step(1.0, ("int_alu",), (), (f"r{number}",)) for number in range(8)]
    assert times([body], processor(int_alu=1.0)) == pytest.approx([2.0], abs=0.1)


def test_what_was_measured_of_the_issue_counts_before_its_width() -> None:
    body = [Step(1.0, ("int_alu",), (), (f"r{number}",)) for number in range(8)]
    assert times([body], processor(issue=0.375)) == pytest.approx([3.0], abs=0.1)


def test_additions_and_multiplications_share_units_where_they_do() -> None:
    mixed = [Step(1.0, (kind,), (f"v{n}",), (f"v{n}",)) for n in range(16) for kind in (("fp_add", "fp_mul")[n % 2],)]
    assert times([mixed], processor(fp_mixed=0.5))[0] == pytest.approx(8.0, abs=0.2)
    assert times([mixed], processor(fp_mixed=0.0))[0] == pytest.approx(4.0, abs=0.2)


def test_selections_and_branches_share_units_where_they_do() -> None:
    branch, move = Step(1.0, ("branch",)), Step(1.0, ("int_alu",), ("flags",), ("r0",), selects=True)
    assert times([[branch, move] * 4], processor(select=0.5)) == pytest.approx([4.0], abs=0.1)
    assert times([[move] * 8], processor(select=0.5)) == pytest.approx([4.0], abs=0.1)
    assert times([[move] * 8], processor()) == pytest.approx([2.0], abs=0.1)  # on separate units


def test_comparisons_take_their_part_of_the_units_of_branches() -> None:
    compare, branch = Step(1.0, ("fp_add",), ("v0",), ("flags",), compares=True), Step(1.0, ("branch",))
    assert times([[compare, branch, branch] * 4], processor(select=0.5, compare=0.4)) == pytest.approx([5.6], abs=0.1)
    assert times([[compare, branch, branch] * 4], processor(select=0.5)) == pytest.approx([4.0], abs=0.1)


@pytest.mark.parametrize(("jumps", "taken"), [(1, 1.5), (2, 3.0), (4, 6.0)])
def test_fetch_goes_on_behind_a_taken_jump_when_it_can(jumps: int, taken: float) -> None:
    part = [Step(1.0, ("int_alu",), (), ("r0",)), Step(0.0, ("branch",), taken=True)]
    assert times([part * jumps], processor(taken=1.5, select=0.25)) == pytest.approx([taken], abs=0.1)
    assert times([[*part[:1] * 20, part[1]]], processor(taken=1.5)) == pytest.approx(
        [5.0], abs=0.1
    )  # issue takes longer


def _call_of_a_library(there: int) -> list[Step]:
    """Return a loop that calls a library function with that many instructions."""
    inside = [Step(1.0, ("int_alu",), (), ("r0",))] * there
    into = Step(1.0, ("branch",), taken=True, far=True)
    return [Step(1.0, ("call",), taken=True), into, *inside, Step(1.0, ("call",), taken=True)]


@pytest.mark.parametrize(("there", "cycles"), [(0, 9.0), (8, 9.0), (57, 16.5)])
def test_calls_of_libraries_wait_for_the_prediction_of_their_jumps_if_the_fetch_is_quicker(
    there: int, cycles: float
) -> None:
    on = processor(taken=1.0, select=0.25, library_call=9.0)
    assert times([_call_of_a_library(there)], on) == pytest.approx([cycles], abs=0.2)
    assert times([_call_of_a_library(0)], processor(taken=1.0, select=0.25)) == pytest.approx([4.0], abs=0.2)


@pytest.mark.parametrize(("line", "cycles"), [(0.0, 13.0), (0.5, 11.0)])
def test_prediction_takes_its_time_for_each_line_of_code_behind_a_call(line: float, cycles: float) -> None:
    within = [Step(1.0, ("int_alu",), (), ("r0",), line=number) for number in range(1, 5)]
    loop = [*_call_of_a_library(0)[:2], *within, Step(1.0, ("call",), taken=True)]
    on = processor(taken=1.0, select=0.25, library_call=9.0, line=line)
    assert times([loop], on) == pytest.approx([cycles], abs=0.2)


def test_call_of_an_unknown_function_of_a_library_is_one_step() -> None:
    body = [Step(1.0, ("call",), far=True), Step(0.0, ("branch",), taken=True)]
    assert times([body], processor(taken=1.0, library_call=9.0)) == pytest.approx([10.0], abs=0.1)


def test_nothing_is_issued_while_the_status_of_floating_point_operations_is_read() -> None:
    body = [Step(0.0, (), status=True), *[Step(1.0, ("int_alu",), (), (f"r{number}",)) for number in range(8)]]
    assert times([body], processor(status=13.0)) == pytest.approx([15.0], abs=0.1)
    assert times([body], processor()) == pytest.approx([2.0], abs=0.1)


@pytest.mark.parametrize(("lines", "taken"), [((1, 1), 1.0), ((1, 2), 2.0), ((0, 0), 1.0)])
def test_fetch_takes_one_line_of_code_at_a_time(lines: tuple[int, int], taken: float) -> None:
    add_here, jump = (
        Step(1.0, ("int_alu",), (), ("r0",), line=lines[0]),
        Step(0.0, ("branch",), taken=True, line=lines[1]),
    )
    there = Step(1.0, ("int_alu",), (), ("r1",), line=lines[1])
    on = processor(taken=1.0, select=0.25)
    assert times([[add_here, there, jump]], on) == pytest.approx([taken], abs=0.1)
    assert times([[*[add_here] * 10, *[there] * 10, jump]], on) == pytest.approx([5.0], abs=0.1)  # issue takes longer


@pytest.mark.parametrize(("window", "overlaps"), [(400, True), (50, False)])
def test_chains_of_two_iterations_overlap_within_the_window_only(window: int, overlaps: bool) -> None:
    # a hundred operations that depend on each other, but on none of the hundred before them
    body = [Step(1.0, ("int_mul",), (), ("r0",)), *[Step(1.0, ("int_alu",), ("r0",), ("r0",))] * 99]
    (taken,) = times([body], processor(window=window, scheduler=window))
    assert (taken < 40) is overlaps


def test_operations_that_wait_fill_the_scheduler() -> None:
    body = [Step(1.0, ("int_mul",), (), ("r0",)), *[Step(1.0, ("int_alu",), ("r0",), ("r0",))] * 99]
    (free,), (held,) = (times([body], processor(window=1000, scheduler=number)) for number in (1000, 20))
    assert held > 1.5 * free


def test_load_of_what_was_stored_waits_for_the_value() -> None:
    step = Step(1.0, ("int_alu",), ("r1",), ("r1",), copies=("r1", "r1", 8))
    load = Step(1.0, (), (), ("v0",), Place("r1", "", 1, 0), loads=True)
    same = Step(1.0, (), ("v0",), (), Place("r1", "", 1, 8), stores=True)
    other = Step(1.0, (), ("v0",), (), Place("r1", "", 1, -8), stores=True)
    assert times([[load, same, step]], processor()) == pytest.approx([6.0], abs=0.2)  # a[i + 1] = a[i]
    assert times([[load, other, step]], processor())[0] < 1.5  # a[i - 1] = a[i]


def test_times_of_bodies_add_up_and_what_serves_hooks_costs_nothing() -> None:
    bodies = [[add("v0", "v0")], [Step(0.0, (), ("r1",), ("r2",))], [add("v0", "v0"), add("v1", "v1")]]
    taken = times(bodies, processor())
    assert sum(taken) == pytest.approx(4.0)
    assert taken[1] == 0.0


def _load(to: str, base: str, site: int, index: str = "") -> Step:
    return Step(1.0, (), (), (to,), Place(base, index, 8, 0), loads=True, sites=(site,))


def test_loads_depend_on_those_that_their_addresses_come_from() -> None:
    step = Step(1.0, ("int_alu",), ("r1",), ("r1",))
    chase = execute([[_load("r0", "r0", 1)]], processor())
    assert chase.loads == {1: {1: 5.0}}  # depends on the previous one, with the first level's latency
    gather = execute([[_load("r2", "r1", 1), _load("v0", "r3", 2, index="r2"), step]], processor())
    assert gather.loads == {1: {}, 2: {1: 5.0}}
    scaled = [_load("r2", "r1", 1), Step(1.0, ("int_mul",), ("r2",), ("r2",)), _load("v0", "r2", 2), step]
    assert execute([scaled], processor()).loads[2] == {1: 8.0}  # after the multiplication
    called = execute([[_load("r0", "r0", 1)]], processor(), enters=True)
    assert called.loads == {1: {}}  # nothing is known about an argument


def test_jumps_depend_on_what_they_compare() -> None:
    compare = Step(1.0, ("int_alu",), ("r2",), ("flags",))
    body = [_load("r2", "r1", 1), compare, Step(1.0, ("branch",), ("flags",))]
    assert execute([body], processor()).branches == [{1: 1.0}]
    kept = Step(1.0, (), ("r2",), (), Place("r9", "", 1, 8), stores=True)
    again = Step(1.0, (), (), ("r4",), Place("r9", "", 1, 8), loads=True)
    through = [_load("r2", "r1", 1), kept, again, _load("v0", "r4", 2)]
    assert execute([through], processor()).loads[2] == {1: 5.0}  # through memory, too


def test_window_is_full_after_as_much_time_as_it_holds_instructions() -> None:
    assert execute([[add("v0", "v0")] * 10], processor()).ahead == pytest.approx(100 * 2.0)


def test_nothing_goes_on_behind_a_load_that_the_whole_round_waits_for() -> None:
    load = Step(1.0, (), (), ("v0",), Place("r9", "", 1, 0), loads=True, sites=(1,))
    store = Step(1.0, (), ("v0",), (), Place("r9", "", 1, 0), stores=True, sites=(2,))
    found = execute([[load, add("v0", "v0"), store]], processor())  # *r9 += x
    assert found.recurs == {1: 8.0}  # an addition and the path through memory: the whole iteration
    assert ahead_of(found.ahead, sum(found.cycles), found.recurs[1]) < found.ahead / 20
    longer = execute([[load, add("v0", "v0"), store, *[add("v1", "v1")] * 8]], processor())
    assert ahead_of(longer.ahead, sum(longer.cycles), longer.recurs[1]) == pytest.approx(longer.ahead / 2, rel=0.1)
    elsewhere = Step(1.0, ("int_alu",), ("r9",), ("r9",), copies=("r9", "r9", 8))
    assert execute([[load, add("v0", "v0"), store, elsewhere]], processor()).recurs == {}


def effects_of(code: str) -> Effects:
    whole = bytes.fromhex(code)
    return effects(whole, 0x1000, [Instruction(0x1000, len(whole), Operation())], lambda _: False)[0x1000]


@pytest.mark.parametrize(
    ("code", "reads", "writes", "copies"),
    [
        ("4883c008", {"rax"}, {"rax", "flags"}, ("rax", "rax", 8)),  # add rax, 8
        ("488d4310", {"rbx"}, {"rax"}, ("rax", "rbx", 16)),  # lea rax, [rbx + 16]
        ("660fefc0", set(), {"v0"}, None),  # pxor xmm0, xmm0
        ("f20f58c1", {"v0", "v1"}, {"v0"}, None),  # addsd xmm0, xmm1
        ("f20f1007", set(), {"v0"}, None),  # movsd xmm0, [rdi]
        ("480307", {"rax"}, {"rax", "flags"}, None),  # add rax, [rdi]
        ("480300", {"rax"}, {"rax", "flags"}, None),  # add rax, [rax]
        ("7400", {"flags"}, set(), None),  # je
        ("400f9ac6", {"flags", "rsi"}, {"rsi"}, None),  # setp sil: keeps the rest of rsi
        ("0fb6c0", {"rax"}, {"rax"}, None),  # movzx eax, al
        ("f20f2ac0", {"rax", "v0"}, {"v0"}, None),  # cvtsi2sd xmm0, eax: keeps the upper half
    ],
)
def test_instruction_reads_and_writes(
    code: str, reads: set[str], writes: set[str], copies: tuple[str, str, int] | None
) -> None:
    found = effects_of(code)
    assert (found.reads, found.writes, found.copies) == (reads, writes, copies)


@pytest.mark.parametrize(
    ("code", "compares"), [("660f2fc1", True), ("0f2ec1", True), ("c5f92fc1", True), ("f20f58c1", False)]
)
def test_floating_point_comparisons_are_known(code: str, compares: bool) -> None:
    found = effects_of(code)
    assert found.compares is compares  # comisd, ucomiss, vcomisd, addsd


@pytest.mark.parametrize(
    ("code", "fuses", "selects"),
    [
        ("4839c8", True, False),  # cmp rax, rcx
        ("803800", False, False),  # cmp byte [rax], 0: in memory, with a constant
        ("483b07", True, False),  # cmp rax, [rdi]
        ("4883e801", True, False),  # sub rax, 1
        ("4809c8", False, False),  # or rax, rcx
        ("48d3e0", False, True),  # shl rax, cl
        ("0f45c1", False, True),  # cmovne eax, ecx
        ("0f94c0", False, True),  # sete al
    ],
)
def test_instructions_that_join_a_branch_or_share_its_units(code: str, fuses: bool, selects: bool) -> None:
    found = effects_of(code)
    assert (found.fuses, found.selects) == (fuses, selects)


CHAIN = """
#include <stdio.h>
#include <stdlib.h>
int main(int n, char **a) {
    int steps = n > 1 ? atoi(a[1]) : 1000;
    double x = 1, y = 1, z = 1, w = 1, c = steps * 1e-9 + 1;
    for (int i = 0; i < steps; i++) { KIND }
    printf("%g\\n", x + y + z + w);
    return 0;
}
"""


@pytest.fixture
def host() -> machine.Machine:
    changes = {f"processor.pipeline.{key}": str(value) for key, value in PIPELINE.items()}
    return machine.load("server-2x32-inorder", {"processor.out_of_order": "true", **changes})


def _time(source: str, place: Path, on: machine.Machine) -> int:
    path = place / "chain.c"
    path.write_text(source)
    record = Simulated().run(Job(build([path]), on, RunPoint(processors=1), ("20000",)))
    assert (record.status, record.message) == ("ok", "")
    assert record.time_cycles is not None
    return record.time_cycles


@pytest.mark.slow
@pytest.mark.compiler
def test_dependent_loop_costs_its_chain_in_a_run(tmp_path: Path, host: machine.Machine) -> None:
    dependent = _time(CHAIN.replace("KIND", "x *= c; x *= c; x *= c; x *= c;"), tmp_path, host)
    independent = _time(CHAIN.replace("KIND", "x *= c; y *= c; z *= c; w *= c;"), tmp_path, host)
    assert dependent - independent == pytest.approx(20000 * 12, rel=0.02)


@pytest.mark.slow
@pytest.mark.compiler
def test_table_has_cycles_for_each_block_and_the_records_as_they_were(tmp_path: Path, host: machine.Machine) -> None:
    path = tmp_path / "chain.c"
    path.write_text(CHAIN.replace("KIND", "x *= c;"))
    built = build([path])
    table = built.blocks.read_bytes()
    timed = timed_table(table, built.executable, host)
    head = HEADER.itemsize
    first, second, third, last = np.frombuffer(timed[head : head + 4 * SECTION.itemsize], dtype=SECTION)
    records = timed[int(first["offset"]) :][: int(first["count"]) * BLOCK.itemsize]
    assert records == section_of(table, BLOCKS_SECTION, BLOCK).tobytes()
    assert timed[int(last["offset"]) :] == section_of(table, CLOCKS_SECTION, CLOCK).tobytes()
    assert int(last["offset"]) == int(third["offset"]) + int(third["count"]) * int(third["record_size"])
    assert second["count"] == first["count"] > 0
    rows = np.frombuffer(timed[int(second["offset"]) : int(third["offset"])], TIMING)
    found = timing(built.executable, host.processor)
    addresses = [int(address) for address in np.frombuffer(records, BLOCK)["address"]]
    assert list(rows["millicycles"]) == [round(1000 * found.cycles[address]) for address in addresses]
    assert list(rows["predicted"]) == [address in found.predicted for address in addresses]
    assert 0 < sum(rows["predicted"]) < len(rows)


@pytest.mark.slow
@pytest.mark.compiler
def test_a_table_is_found_once_for_all_clocks(tmp_path: Path, host: machine.Machine) -> None:
    path = tmp_path / "chain.c"
    path.write_text(CHAIN.replace("KIND", "x *= c;"))
    built, faster = build([path]), host.processor.model_copy(update={"clock_mhz": 2 * host.processor.clock_mhz})
    wider = host.processor.model_copy(update={"issue_width": 1 + host.processor.issue_width})
    tables = [
        timed_blocks(built, host.model_copy(update={"processor": one}), None) for one in (host.processor, faster, wider)
    ]
    assert tables[0] == tables[1] != tables[2]


@pytest.mark.slow
@pytest.mark.compiler
def test_table_is_the_same_whatever_the_order_of_sets(tmp_path: Path, host: machine.Machine) -> None:
    built = build([resource_dir("programs") / "billiard.c"], ldflags=["-lm"])
    (tmp_path / "host.toml").write_text(host.to_toml())
    program = (
        "import sys; from pathlib import Path; from scalegraph import machine;"
        "from scalegraph.instrument.timed import timed_table as made; on = machine.load(sys.argv[3]);"
        "sys.stdout.buffer.write(made(Path(sys.argv[1]).read_bytes(), Path(sys.argv[2]), on))"
    )
    command = [sys.executable, "-c", program, str(built.blocks), str(built.executable), str(tmp_path / "host.toml")]
    tables = {
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in ("1", "2", "3")
    }
    assert len(tables) == 1


def test_damaged_program_is_named(tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_bytes(b"nothing")
    with pytest.raises(InputError, match="program"):
        timing(path, processor())
