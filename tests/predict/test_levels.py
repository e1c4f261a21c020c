"""Samples on smaller caches behave like runs with larger data; without them a sentence warns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.resources import resource_dir
from scalegraph.base.run import Region, RegionCost, RunPoint, RunRecord
from scalegraph.cli.main import main
from scalegraph.predict.derive import EventCosts
from scalegraph.predict.levels import Levels, base, pages, place_of, smaller_caches
from scalegraph.predict.predicting import Predictor
from scalegraph.request.run.sampling import sampled_levels
from scalegraph.store import Study

CLOCK_HZ = 1e9
REGIONS = (Region(id=1, kind="function", name="function sweep", file="p.c", line=1),)
COSTS = {n: EventCosts() for n in (1, 2)}
# every pass accesses all of the data
SWEEP = """
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  double *a = malloc(sizeof *a * n), sum = 0;
  for (int i = 0; i < n; i++) a[i] = i;
  for (int k = 0; k < 10; k++)
    for (int i = 0; i < n; i++) sum += a[i];
  printf("%g\\n", sum);
}
"""


def run(n: int, stall: int, *, touched: int | None = None) -> RunRecord:
    """Return a run of n thousand steps that touches n pages, or *touched*."""
    busy = 1000 * n
    cost = RegionCost(
        region=1, categories={"busy_int": busy, "stall_local": stall}, busy_max=busy, useful_max=busy + stall
    )
    return RunRecord(
        source="simulated",
        program="p",
        machine="m",
        point=RunPoint(processors=1, parameters={"n": n}),
        time_s=(busy + stall) / CLOCK_HZ,
        time_cycles=busy + stall,
        clock_hz=CLOCK_HZ,
        regions=(cost,),
        host_s=0.1,
        counters={"page_misses": n + 3 if touched is None else touched},
    )


def test_the_growth_of_the_data_is_found_from_the_touched_pages() -> None:
    runs = [run(n, 0) for n in (10, 20, 40)]
    assert pages(runs, {"n": 400}) == pytest.approx(403)
    found = base(runs, {"n": 400}, 1)
    assert found is not None
    assert (found[0].point.parameters["n"], found[1]) == (40, pytest.approx(403 / 43))
    rounded = [run(n, 0, touched=n**3 // 100 + 6) for n in (4, 8, 15, 16)]  # no polynomial fits these
    assert pages(rounded, {"n": 24}) == pytest.approx(24**3 / 100 + 6, rel=0.3)
    assert base([run(10, 0, touched=0)], {"n": 400}, 1) is None


def test_the_growth_of_the_data_is_what_the_program_declares() -> None:
    runs = [run(n, 0, touched=9) for n in (10, 20, 40)]  # pages are too coarse
    found = base(runs, {"n": 400}, 1, lambda values: 8.0 * values["n"] ** 2)
    assert found is not None
    assert found[1] == pytest.approx(100)
    assert base(runs, {"n": 400}, 1, lambda _: None) == (runs[-1], 1.0)  # by pages: the formula has no value
    machine = machines.load("server-2x32-inorder", {})
    levels = Levels(machine, memory=lambda values: 1e6 * values["n"])
    assert "n = 400: the data grow from 40.0 MB to 400 MB and no longer fit in l3" in levels.warning(
        runs, {"n": 400}, 1
    )
    assert not Levels(machine).warning(runs, {"n": 400}, 1)


@pytest.mark.parametrize("factor", [1.3, 2, 3.4, 8, 100])
@pytest.mark.parametrize("name", ["server-2x32-inorder", "ksr1", "mesh-manycore"])
def test_smaller_caches_are_as_near_to_the_factor_as_sets_allow(name: str, factor: float) -> None:
    machine = machines.load(name, {})
    smaller = machines.load(name, smaller_caches(machine, factor, 1024, 1))
    for level, own in zip(machine.cache, smaller.cache, strict=True):
        wanted = level.size_kib / factor
        near = 0.2 if level.ways > 2 else 0.42  # sets are a power of two
        assert own.size_kib <= level.size_kib
        assert own.size_kib == pytest.approx(wanted, rel=near) or own.size_kib == 1 > wanted
        assert own.line_bytes == level.line_bytes


def test_levels_that_data_have_left_keep_their_size() -> None:
    machine = machines.load("server-2x32-inorder", {})
    assert sorted(smaller_caches(machine, 2, 60 * 1024, 1)) == [f"cache.l{i}.size_kib" for i in (1, 2, 3)]
    assert sorted(smaller_caches(machine, 2, 100 * 1024, 1)) == ["cache.l2.size_kib", "cache.l3.size_kib"]
    assert "cache.l1.size_kib" in smaller_caches(machine, 2, 100 * 1024, 4)  # four processors have four times as much
    assert smaller_caches(machine, 2, 1e9, 32) == {}


def test_stalls_are_those_of_the_sample_on_smaller_caches() -> None:
    runs = [run(n, 10 * n) for n in (10, 20, 40)]  # everything fits in the first level
    target = {"n": 400}
    fitted = Predictor(runs, REGIONS, COSTS, [target]).at(target, 1)
    assert fitted.regions[0].memory_stall_s == pytest.approx(10 * 400 / CLOCK_HZ, rel=0.01)
    shrunk = {place_of(target, 1): run(40, 3000 * 40), place_of({"n": 40}, 1): run(20, 10 * 20)}
    found = Predictor(runs, REGIONS, COSTS, [target], levels=Levels(None, shrunk)).at(target, 1)
    assert found.regions[0].memory_stall_s == pytest.approx(3000 * 400 / CLOCK_HZ)
    assert found.regions[0].busy_s == fitted.regions[0].busy_s
    assert found.time_s == pytest.approx(4000 * 400 / CLOCK_HZ)


def test_a_prediction_needs_its_own_sample_on_smaller_caches_and_the_tests_but_not_those_of_others() -> None:
    runs = [run(n, 0) for n in (10, 20, 40)]
    own, other, test, rejected = run(40, 1), run(40, 2), run(20, 3), run(20, 4)
    shrunk = {place_of({"n": 400}, 1): own, place_of({"n": 800}, 1): other, place_of({"n": 40}, 1): test}
    found = Predictor(runs, REGIONS, COSTS, [{"n": 400}, {"n": 800}], levels=Levels(None, shrunk, (rejected,)))
    assert found.needed({"n": 400}, 1) == [*runs, own, test, rejected]
    assert found.needed({"n": 800}, 1) == [*runs, other, test, rejected]


class Shrinking:
    """Runs on smaller caches in which each step stalls for 1 cycle, or for *first* cycles if the first level is
    smaller.
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.asked: list[tuple[int, tuple[str, ...]]] = []

    def on_smaller_caches(self, sample: RunRecord, smaller: Mapping[str, str]) -> RunRecord:
        n = int(sample.point.parameters["n"])
        self.asked.append((n, tuple(sorted(smaller))))
        return run(n, (self.first if "cache.l1.size_kib" in smaller else 1) * 1000 * n)


@pytest.mark.parametrize("first", [1, 3, 9])
def test_caches_are_made_smaller_as_gives_the_largest_sample_best(first: int) -> None:
    # 400 and 800 KB exceed the first level of 48 KiB; the largest sample stalls for 3 cycles per step
    runs = [run(100, 0), run(200, 200 * 3000), run(50, 0)]
    runner = Shrinking(first)
    target = {"n": 400}
    found, failed = sampled_levels(runner, runs, [target], [1], Levels(machines.load("server-2x32-inorder", {})))
    assert failed == []
    every = ("cache.l1.size_kib", "cache.l2.size_kib", "cache.l3.size_kib")
    assert runner.asked[:2] == [(100, every[1:]), (100, every)]
    assert runner.asked[2:] == [(200, every if first == 3 else every[1:])]
    seen = found.run(target, 1)
    assert seen is not None
    assert seen.time_cycles == 1000 * 200 * (1 + (3 if first == 3 else 1))
    assert len(found.others) == 1


def test_fitted_stalls_go_through_the_sample_that_is_run_on_smaller_caches() -> None:
    # the largest sample exceeds a level: its stalls are no longer proportional to those of the others
    runs = [run(10, 100), run(20, 200), run(40, 40 * 900)]
    target = {"n": 400}
    shrunk = {place_of(target, 1): run(40, 40 * 1000)}
    found = Predictor(runs, REGIONS, COSTS, [target], levels=Levels(None, shrunk)).at(target, 1)
    assert found.regions[0].memory_stall_s == pytest.approx(400 * 1000 / CLOCK_HZ)


def test_data_that_leave_a_level_without_such_a_sample_are_named() -> None:
    machine = machines.load("server-2x32-inorder", {})
    small = [run(n, 10 * n, touched=n) for n in (100, 200, 400)]  # 1.6 MB fit in the second level, 16 MB do not
    found = Predictor(small, REGIONS, COSTS, [{"n": 4000}], levels=Levels(machine)).at({"n": 4000}, 1)
    assert found.warning == (
        "N = 1, n = 4000: the data grow from 1.64 MB to 16.4 MB and no longer fit in l2; no sample "
        "shows what that costs"
    )
    near = Predictor(small, REGIONS, COSTS, [{"n": 450}], levels=Levels(machine)).at({"n": 450}, 1)
    assert near.warning == ""
    seen = Levels(machine, {place_of({"n": 4000}, 1): run(400, 10)})
    assert Predictor(small, REGIONS, COSTS, [{"n": 4000}], levels=seen).at({"n": 4000}, 1).warning == ""


@pytest.mark.slow
@pytest.mark.compiler
def test_a_run_whose_data_leave_a_cache_is_predicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sweep.c").write_text(SWEEP)
    monkeypatch.chdir(tmp_path)
    # 16 and 32 KiB fit in the first level of 48 KiB, 256 KiB do not
    words = ["predict", "sweep.c", "-p", "1", "-m", "server-2x32-inorder"]  # where misses are not overlapped
    words += ["--samples", "n=2048,4096", "--at", "n=32768", "--verify", "--json"]
    for switch, error, said in (
        (["-o", "kept.sgstudy"], 0.05, ""),
        (["--no-smaller-caches"], 1.0, "no longer fit in l1"),
    ):
        with pytest.raises(SystemExit) as ended:
            main([*words, *switch, "--", "{n}"])
        assert ended.value.code == 0
        found = json.loads(capsys.readouterr().out)["predictions"][0]
        assert said in found["warning"]
        assert bool(found["warning"]) == bool(said)
        assert (found["error"] < 0.05) == (error == 0.05)
    with pytest.raises(SystemExit):
        main(["predict", "kept.sgstudy", "--at", "n=32768", "--json"])
    found = json.loads(capsys.readouterr().out)["predictions"][0]
    assert (found["warning"], found["error"] < 0.05) == ("", True)
    with Study.open(tmp_path / "kept.sgstudy") as study:
        smaller = {variant.point.variant.machine["cache.l2.size_kib"] for variant in study.variants()}
    assert len(smaller) == 2  # for the target, and for the largest sample, which tests the others


@pytest.mark.slow
@pytest.mark.compiler
def test_ranks_whose_data_leave_a_cache_are_predicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    machine = (resource_dir("machines") / "cluster-hdr.toml").read_text()
    # misses are not overlapped
    in_order = machine.replace('machine = "server-2x32"', 'machine = "server-2x32-inorder"')
    (tmp_path / "small.toml").write_text(in_order + '\n[[cache]]\nname = "l2"\nsize_kib = 256\n')
    words = ["predict", "halo2d", "-m", "small.toml", "-p", "4", "--samples", "size=64,128", "--at", "size=512"]
    words += ["--verify", "--json"]
    errors = []
    for switches in ([], ["--no-smaller-caches"]):
        with pytest.raises(SystemExit) as ended:
            main([*words, *switches])
        assert ended.value.code == 0
        found = json.loads(capsys.readouterr().out)["predictions"][0]
        errors.append(found["error"])
        assert found["low_s"] < found["actual_s"] < found["high_s"] or switches
    print(errors)
    assert errors[0] < 0.1 < errors[1]
