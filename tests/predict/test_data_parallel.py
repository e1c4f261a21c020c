"""Data-parallel prediction: blocks against distribution one by one, and programs with known time formulas."""

import itertools
import math

import pytest

from scalegraph.base.errors import InputError, RunError
from scalegraph.base.run import PROGRAM, Region, RegionCost, RunPoint, RunRecord
from scalegraph.predict import blocks
from scalegraph.predict.blocks import Block, Size
from scalegraph.predict.collective_costs import CollectiveCosts, collective_costs
from scalegraph.predict.counts import CannotTellError
from scalegraph.predict.data_parallel import (
    Cache,
    SegmentsPredictor,
    SizesPredictor,
    block_counts,
    busiest,
    fit_sizes,
    largest_event,
    owned,
)

CLOCK_HZ = 1e6
ELEMENT, PIVOT, CALL, WAIT, SERIAL = 30, 100, 5, 70, 11  # cycles


def active(size: int, dealt: int, processors: int) -> list[int]:
    """Distribute *dealt* elements in blocks; return how many of the last *size* each processor has."""
    owner = [p for p in range(processors) for _ in range(dealt // processors + (p < dealt % processors))]
    return [sum(1 for at in range(dealt - size, dealt) if owner[at] == p) for p in range(processors)]


def test_the_busiest_and_the_owner_of_a_pass_are_those_of_dealing_out() -> None:
    for dealt, processors in itertools.product(range(1, 26), range(1, 14)):
        for size in range(1, dealt + 1):
            found = active(size, dealt, processors)
            assert busiest(size, processors, dealt) == max(found), (size, dealt, processors)
            first = next(count for count in found if count)
            assert owned(size, processors, dealt) == first, (size, dealt, processors)


def test_a_block_of_nothing_has_no_iterations() -> None:
    assert (busiest(0, 4), busiest(0, 4, 10), owned(0, 4, 10)) == (0, 0, 0)


def test_counts_of_passes_by_hand() -> None:
    """Five elements on two processors, three and two; in pass k the last 5 - k take part, twice."""
    found = block_counts(Block(size="n - k", of="n", times="2", data="8 * (n - k)"), "n", {"n": 5}, 2, cache=Cache(24))
    assert found.total.tolist() == [10, 8, 6, 4, 2]
    assert found.most.tolist() == [6, 4, 4, 4, 2]
    assert found.owner.tolist() == [6, 4, 2, 4, 2]
    assert found.beyond.tolist() == pytest.approx([0.8, 0.5, 0, 0, 0])
    everywhere, serial = (block_counts(Block(size=size), "1", {"n": 5}, 3) for size in ("N", "1"))
    assert (everywhere.total.tolist(), everywhere.most.tolist()) == ([3], [1])
    assert (serial.total.tolist(), serial.most.tolist()) == ([1], [1])
    assert block_counts(Block(by="owner"), "2", {"n": 5}, 3).most.tolist() == [0, 0]


STRUCTURE = """
parameters = ["n"]
[[segment]]
name = "steps"
elapsed = "work - last"
passes = "n"
event = [{ collective = "broadcast", bytes = "8 * (n - k)" }]
[[segment.part]]
regions = ["pivot"]
block = [{ by = "owner" }]
[[segment.part]]
regions = ["row"]
block = [{ size = "n - k", of = "n" }, { size = "N" }]
[[segment]]
name = "end"
elapsed = "last"
[[segment.part]]
regions = ["last"]
block = [{ times = "n" }]
"""
REGIONS = (
    PROGRAM,
    Region(id=1, kind="function", name="function work"),
    Region(id=2, kind="function", name="function pivot"),
    Region(id=3, kind="function", name="function row"),
    Region(id=4, kind="loop", name="loop row:5", parent=3),
    Region(id=5, kind="function", name="function last"),
)
COSTS = dict.fromkeys(range(1, 33), CollectiveCosts({"broadcast": ((8, 1e-5), (808, 1.1e-4))}))


def steps(n: int, processors: int) -> float:
    """Return the cycles of the steps, processor by processor."""
    total = 0.0
    for k in range(n):
        dealt = active(n - k, n, processors)
        owner = next(p for p, count in enumerate(dealt) if count)
        spent = [CALL + ELEMENT * count + (PIVOT if p == owner else 0) for p, count in enumerate(dealt)]
        total += max(spent) + WAIT + CLOCK_HZ * COSTS[processors].seconds("broadcast", 8 * (n - k))
    return total


def record(n: int, processors: int) -> RunRecord:
    elements = n * (n + 1) // 2 * ELEMENT
    every = steps(n, processors)
    costs = (
        RegionCost(region=1, elapsed=round(every + SERIAL * n)),
        RegionCost(region=2, categories={"busy_fp": PIVOT * n, "idle_collective": 99}),
        RegionCost(region=3, categories={"busy_int": CALL * n * processors}),
        RegionCost(region=4, categories={"busy_fp": elements}),
        RegionCost(region=5, elapsed=SERIAL * n, categories={"busy_int": SERIAL * n}),
    )
    point = RunPoint(processors=processors, parameters={"n": n})
    time = (every + SERIAL * n) / CLOCK_HZ
    return RunRecord(
        source="simulated", program="p", machine="m", point=point, time_s=time, clock_hz=CLOCK_HZ, regions=costs
    )


@pytest.mark.parametrize("processors", [1, 4, 7, 32])
def test_segments_with_known_costs_are_predicted_without_error(processors: int) -> None:
    runs = [record(n, processors) for n in (16, 40)]
    predictor = SegmentsPredictor(blocks.parse(STRUCTURE), runs, REGIONS, COSTS)
    found = predictor.at({"n": 100}, processors)
    assert found.time_s == pytest.approx((steps(100, processors) + SERIAL * 100) / CLOCK_HZ, rel=2e-4)
    assert found.low_s <= found.time_s <= found.high_s
    assert sum(one.time_s for one in found.regions) + found.events_s == pytest.approx(found.time_s)
    shared = {one.name: one.shared for one in found.regions}
    assert shared == {"pivot": False, "row": True, "last": False}


def test_samples_on_other_processors_predict_nothing_but_those_on_one_help() -> None:
    runs = [record(n, p) for n in (16, 40) for p in (1, 4)]
    predictor = SegmentsPredictor(blocks.parse(STRUCTURE), runs, REGIONS, COSTS)
    assert predictor.used(4) == [1, 4]
    with pytest.raises(CannotTellError, match="no samples on N = 8"):
        predictor.at({"n": 100}, 8)


@pytest.mark.parametrize("ways", [1, 2, 4])
def test_what_leaves_a_cache_is_what_a_cache_of_lines_loses(ways: int) -> None:
    """Lines swept repeatedly through sets with LRU replacement."""
    sets = 16
    for lines in range(1, 3 * sets * ways):
        kept: list[list[int]] = [[] for _ in range(sets)]
        for _ in range(3):
            missed = 0
            for line in range(lines):
                own = kept[line % sets]
                missed += line not in own
                own[:] = [*(one for one in own if one != line), line][-ways:]
        assert Cache(sets * ways, ways).lost(lines) == pytest.approx(missed / lines), lines


def test_stalls_beyond_the_cache_come_from_samples_there() -> None:
    """A block stalls 2 cycles per element, and 50 more per element evicted from a cache of 400 bytes."""
    text = """
    parameters = ["n"]
    [[segment]]
    name = "sweep"
    elapsed = "row"
    [[segment.part]]
    regions = ["row"]
    block = [{ size = "n", data = "8 * n / N" }]
    """

    cache = Cache(400)

    def run(n: int, processors: int) -> RunRecord:
        stall = round(n * (2 + 50 * cache.lost(8 * n / processors)))
        categories = {"busy_fp": 10 * n, "stall_local": stall}
        elapsed = (10 * n + stall) // processors
        cost = RegionCost(region=3, elapsed=elapsed, categories=categories)
        point = RunPoint(processors=processors, parameters={"n": n})
        return RunRecord(
            source="simulated",
            program="p",
            machine="m",
            point=point,
            time_s=elapsed / CLOCK_HZ,
            clock_hz=CLOCK_HZ,
            regions=(cost,),
        )

    runs = [run(n, p) for n in (32, 128) for p in (1, 8)]
    predictor = SegmentsPredictor(blocks.parse(text), runs, REGIONS, {}, cache)
    assert predictor.at({"n": 160}, 8).time_s == pytest.approx(12 * 20 / CLOCK_HZ)
    assert predictor.at({"n": 1600}, 8).time_s == pytest.approx(62 * 200 / CLOCK_HZ)
    some = 50 * 2 * (1 - 400 / 600)
    assert predictor.at({"n": 600}, 8).time_s == pytest.approx((12 + some) * 75 / CLOCK_HZ, rel=1e-3)


def test_the_interval_goes_down_to_where_operations_overlap_with_blocks() -> None:
    """The shorter one of an operation and the blocks of its pass may take no additional time."""
    predictor = SegmentsPredictor(blocks.parse(STRUCTURE), [record(n, 4) for n in (16, 40)], REGIONS, COSTS)
    found = predictor.at({"n": 100}, 4)
    work = [
        max(CALL + ELEMENT * count + PIVOT * (not p) for p, count in enumerate(filter(None, active(n, 100, 4))))
        for n in range(100, 0, -1)
    ]
    operations = [CLOCK_HZ * COSTS[4].seconds("broadcast", 8 * n) for n in range(100, 0, -1)]
    shorter = sum(map(min, work, operations)) / CLOCK_HZ
    assert found.time_s - found.low_s == pytest.approx(shorter, rel=0.02)
    assert found.high_s == pytest.approx(found.time_s, rel=1e-3)


def test_a_function_that_the_program_lacks_is_named() -> None:
    with pytest.raises(InputError, match="steps: 'work - last' uses 'last', which is not known"):
        SegmentsPredictor(blocks.parse(STRUCTURE), [record(16, 4)], REGIONS[:5], COSTS)
    text = STRUCTURE.replace('regions = ["row"]', 'regions = ["line"]')
    with pytest.raises(InputError, match="steps: the runs have no function 'line'"):
        SegmentsPredictor(blocks.parse(text), [record(16, 4)], REGIONS, COSTS)


SIZES = (Size(size="i + j", times="i"), Size(size="m * n"), Size(size="m"))


def cost_of(values: dict[str, int], processors: int) -> float:
    """Eq. (4.11) with known times, and data of 6 elements."""
    i, m = values["i"], values["m"]
    pulses, points = i + values["j"], m * values["n"]
    time = i * pulses / min(processors, pulses) * 3e-3 + points / min(processors, points) * 2e-5
    return time + m / min(processors, m) * 1e-3 + 7e-2 / min(processors, 6)


def test_sizes_of_data_and_the_constant_one_are_found() -> None:
    sample = {"i": 5, "j": 5, "m": 20, "n": 20}
    places = [(sample, p) for p in (1, 2, 3, 4, 6, 8, 12, 16, 32, 64)]
    found = fit_sizes(SIZES, places, [cost_of(*place) for place in places])
    assert found.wac == 6
    assert found.coefficients == pytest.approx((3e-3, 2e-5, 1e-3, 7e-2), rel=1e-6)
    large = {"i": 10, "j": 10, "m": 256, "n": 128}
    assert sum(found.terms_s(large, 48)) == pytest.approx(cost_of(large, 48))
    hand = 10 * 20 / 20 * 3e-3 + 256 * 128 / 48 * 2e-5 + 256 / 48 * 1e-3 + 7e-2 / 6
    assert cost_of(large, 48) == pytest.approx(hand)


def test_fewer_samples_than_unknown_times_are_refused() -> None:
    with pytest.raises(CannotTellError, match="4 unknown times"):
        fit_sizes(SIZES, [({"i": 5, "j": 5, "m": 20, "n": 20}, 1)] * 3, [1.0] * 3)


def test_a_program_by_sizes_is_predicted_on_any_processors() -> None:
    text = 'parameters = ["n"]\n[[size]]\nsize = "n"\n'
    runs = [
        RunRecord(
            source="simulated",
            program="p",
            machine="m",
            time_s=n / min(n, p) + 0.5,
            point=RunPoint(processors=p, parameters={"n": n}),
        )
        for n in (4, 8)
        for p in (1, 2, 16)
    ]
    predictor = SizesPredictor(blocks.parse(text), runs)
    found = predictor.at({"n": 64}, 32)
    assert found.time_s == pytest.approx(2.5)
    assert (predictor.model.wac, predictor.used(32)) == (1, [1, 2, 16])
    assert [one.name for one in found.regions] == ["data of size n", "data of size constant size 1"]
    with pytest.raises(InputError, match="no sample run"):
        SizesPredictor(blocks.parse(text), [])


def test_costs_of_operations_are_those_printed_and_lie_between_them() -> None:
    run = record(16, 4).model_copy(update={"stdout": "broadcast 8 1e-6\nbroadcast 16 3e-6\nallreduce 8 5e-6\n"})
    found = collective_costs(run)
    assert found.seconds("broadcast", 12) == pytest.approx(2e-6)
    assert found.seconds("broadcast", 0) == 0
    assert found.largest == 8
    with pytest.raises(RunError, match="printed nothing"):
        collective_costs(run.model_copy(update={"stdout": ""}))


def test_the_largest_operation_of_all_places() -> None:
    assert largest_event(blocks.parse(STRUCTURE), [({"n": 16}, 2), ({"n": 100}, 2)]) == 800


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('parameters = ["n"]', "either segments or sizes"),
        ('parameters = ["n"]\n[[size]]\nsize = "m"', "'m', which is not known"),
        (STRUCTURE.replace('"n - k"', '"n - j"'), "'j', which is not known"),
        (STRUCTURE.replace('"broadcast"', '"shout"'), "broadcast"),
    ],
)
def test_faults_of_a_file_are_said(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        blocks.parse(text)


def test_a_pass_takes_the_ceiling_of_its_share() -> None:
    """Eq. (2.6) for a block of 100 on 8 processors: 13 iterations."""
    assert busiest(100, 8) == math.ceil(100 / 8) == 13
