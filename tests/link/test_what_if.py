"""Names of virtual speedups to addresses, what-if runs from end to end, and perfect balance."""

from collections.abc import Callable

import pytest

from scalegraph.base.errors import InputError
from scalegraph.base.run import RunPoint, RunRecord, Variant
from scalegraph.link import Build
from scalegraph.link.balance import balanced
from scalegraph.link.scale import factor_of, parse, scale_file

pytestmark = pytest.mark.compiler
Run = Callable[..., RunRecord]
Built = Callable[[str], Build]


def different(run: Run, processors: int = 4, name: str = "critical", **variant: object) -> RunRecord:
    return run(name, processors, point=RunPoint(processors=processors, variant=Variant(**variant)))  # type: ignore[arg-type]


def items(build: Build, **speedup: str) -> list[str]:
    text = scale_file(build, Variant(speedup=speedup))
    return [line for line in text.splitlines() if line.startswith("item")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "item"),
    [
        ("line:critical.c:11", "item code 3 1 2"),
        ("line:critical.c:8-13/compute", "item code 1 1 2"),
        ("region:work/memory", "item region 2 1 2"),
        ("within:function main", "item within 3 1 2"),
        ("region:critical.c:7", "item region 3 1 2"),
        ("region:#1", "item region 3 1 2"),
        ("lock:critical", "item lock 3 1 2"),
        ("lock:critical:counting", "item lock 3 1 2"),
        ("held:critical:counting", "item held 3 1 2"),
        ("data:table", "item data 2 1 2"),
        ("data:0x1000-0x2000", "item data 2 1 2"),
        ("heap:many", "item heap 2 1 2"),
        ("heap:critical.c:17", "item heap 2 1 2"),
    ],
)
def test_targets_are_found_by_name(built: Built, target: str, item: str) -> None:
    text = scale_file(built("critical"), Variant(speedup={target: "2"}))
    assert text.splitlines()[0] == item
    assert text.splitlines()[1].startswith("range ")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("line:critical.c:2", "no code comes from line 2"),
        ("line:other.c:2", "no code comes from 'other.c'"),
        ("line:critical.c", "FILE:LINE"),
        ("region:wrok", "did you mean 'work'"),
        ("data:tabel", "did you mean 'table'"),
        ("lock:critical:counted2", "counted2"),
        ("heap:table", "no line allocates 'table'"),
        ("data:0x20-0x10", "the lower one first"),
        ("lock:m/compute", "has no parts"),
        ("loop:3", "expected line, region"),
        ("line:", "expected line, region"),
    ],
)
def test_what_is_not_there_is_said_with_the_nearest_name(built: Built, target: str, said: str) -> None:
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        scale_file(built("critical"), Variant(speedup={target: "2"}))


@pytest.mark.parametrize("text", ["0", "-1", "1e9", "fast", "nan", "1/0", ""])
def test_a_factor_is_a_number_above_zero_or_inf(text: str) -> None:
    with pytest.raises(ValueError, match="expected a factor"):
        factor_of(text)


def test_factors_are_exact_fractions(built: Built) -> None:
    build = built("critical")
    assert items(build, **{"region:#1": "1.5"}) == ["item region 3 2 3"]
    assert items(build, **{"region:#1": "0.25"}) == ["item region 3 4 1"]
    assert items(build, **{"region:#1": "inf"}) == ["item region 3 0 1"]
    assert items(build, **{"region:#1": "1"}) == []
    assert factor_of("∞") is None
    assert parse("line:a/b.c:3") == ("line", "a/b.c:3", "")


@pytest.mark.slow
def test_a_record_of_a_what_if_run_keeps_the_identity_and_its_variant(run: Run) -> None:
    actual = different(run)
    for variant in ({"ideal": ("contention", "sync")}, {"speedup": {"region:work": "inf", "heap:many": "3"}}):
        record = different(run, **variant)
        assert record.ok, record.message
        assert record.time_cycles is not None
        assert sum(record.categories.values()) == 4 * record.time_cycles
        assert record.categories != actual.categories
        assert record.point.variant
        assert record.stdout == actual.stdout


@pytest.mark.slow
def test_a_line_that_is_twice_as_fast_costs_half_of_its_cycles(run: Run) -> None:
    actual, faster = different(run, 1), different(run, 1, speedup={"line:critical.c:11": "2"})
    before, after = ({cost.line: cost for cost in record.lines} for record in (actual, faster))
    assert after[11].busy == pytest.approx(before[11].busy / 2, abs=8)
    assert after[11].executions == before[11].executions
    assert after[23].busy == before[23].busy


def test_perfect_balance_is_the_run_without_waiting_at_barriers(run: Run) -> None:
    actual, ideal = different(run), different(run, ideal=("balance",))
    assert actual.time_cycles is not None
    assert ideal.time_cycles is not None
    waits = actual.categories["idle_barrier"] + actual.categories["idle_task"]
    assert waits > 0
    assert ideal.time_cycles == -(-(4 * actual.time_cycles - waits) // 4)
    assert ideal.categories["idle_barrier"] < 4
    assert actual.blame
    assert not ideal.blame
    assert not any(cost.waited or cost.caused for cost in ideal.regions)
    shares = [sum(cycles[p] for cycles in ideal.processor_categories.values()) for p in range(4)]
    assert shares == [ideal.time_cycles] * 4
    for name, cycles in ideal.categories.items():
        assert sum(ideal.processor_categories.get(name, [0])) == cycles
        if name not in ("idle_barrier", "idle_task"):
            assert cycles == actual.categories[name]
            assert cycles == sum(cost.categories.get(name, 0) for cost in ideal.regions)
    groups = (ideal.busy_s, ideal.memory_stall_s, ideal.idle_s, ideal.primitive_s)
    assert sum(value or 0.0 for value in groups) == pytest.approx(4 * (ideal.time_s or 0.0))


def test_a_run_without_accounts_has_no_balance() -> None:
    record = RunRecord(source="measured", program="p", machine="m", point=RunPoint(processors=2), time_s=1.0)
    assert balanced(record) is record


@pytest.mark.slow
def test_what_is_removed_occupies_nothing_and_waits_for_nothing(run: Run, built: Built) -> None:
    everything = {f"whole:#{region.id}": "inf" for region in built("critical").regions}
    actual, without = (record.causes for record in (different(run, 8), different(run, 8, speedup=everything)))
    for cause in ("computation", "lock"):
        assert actual[cause]["stall_contention"] > 0
        assert "stall_contention" not in without[cause]
