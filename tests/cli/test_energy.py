"""Energy, hours and price of a study on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scalegraph import machine as machines
from scalegraph.base.resources import resource_dir
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.store import Manifest, Study

MACHINES = ("xeon-8360y", "ksr1", "graviton3")


def _run(machine: str, processors: int, n: int) -> RunRecord:
    """Return a run that takes n/N s on N processors plus 0.1 N s in which all wait."""
    time = n / processors + 0.1 * processors
    clock = 1e6
    cycles = {"busy_int": round(n * clock), "idle_barrier": round(0.1 * processors**2 * clock)}
    point = RunPoint(processors=processors, parameters={"n": n})
    return RunRecord(
        source="simulated",
        program="p",
        machine=machine,
        point=point,
        time_s=time,
        clock_hz=clock,
        work_ops=n,
        busy_s=float(n),
        idle_s=0.1 * processors**2,
        memory_stall_s=0.0,
        primitive_s=0.0,
        categories=cycles,
        counters={"memory_lines": 0},
    )


@pytest.fixture
def study(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    name: str = getattr(request, "param", "xeon-8360y")
    path = tmp_path / "made.sgs"
    values = machines.load(name).model_dump(mode="json")
    with Study.create(path, Manifest(program="p", machine=name, machine_values=values)) as made:
        for n in (1, 4, 16):
            for processors in (1, 2, 4, 8):
                made.add_run(_run(name, processors, n))
    return path


def rows(call: Any, study: Path, what: str) -> list[dict[str, Any]]:
    code, out, err = call("analyze", study, "--what", what, "--json")
    assert code == 0, err
    found: list[dict[str, Any]] = json.loads(out)["rows"]
    return found


def test_energy_of_each_run_is_that_of_its_account(call: Any, study: Path) -> None:
    row = next(row for row in rows(call, study, "energy") if (row["label"], row["processors"]) == ("n = 4", 8))
    time = 4 / 8 + 0.8
    assert row["energy_base_j"] == pytest.approx(110.3 * time)
    assert row["energy_cores_j"] == pytest.approx(3.49 * 4)
    assert row["energy_waiting_j"] == pytest.approx(3.49 * 6.4)
    assert row["power_w"] == pytest.approx(row["energy_j"] / time)
    delay = next(r for r in rows(call, study, "energy-delay") if (r["label"], r["processors"]) == ("n = 4", 8))
    assert delay["energy_delay_js"] == pytest.approx(row["energy_j"] * time)


def test_the_matrix_holds_the_energy(call: Any, study: Path) -> None:
    code, out, err = call(
        "matrix", study, "--bound", "energy", "--energy", "300", "--metric", "isoefficiency", "--json"
    )
    assert code == 0, err
    made = json.loads(out)
    assert made["bound"] == "energy"
    assert made["energy"] == 300
    low, high = (made["work"][made["processors"].index(n)] for n in (2, 8))
    value = made["matrix"][made["processors"].index(2)][made["processors"].index(8)]
    assert value == pytest.approx(8 * low / (2 * high))


@pytest.mark.parametrize(
    ("study", "words"),
    [
        ("ksr1", ("analyze", "--what", "energy")),
        ("ksr1", ("analyze", "--what", "energy-delay")),
        ("ksr1", ("matrix", "--bound", "energy")),
        ("xeon-8360y", ("analyze", "--what", "price")),
    ],
    indirect=["study"],
)
def test_what_the_machine_does_not_state_is_said_in_a_sentence(call: Any, study: Path, words: tuple[str, ...]) -> None:
    code, out, err = call(words[0], study, *words[1:])
    assert code == 2
    assert not out
    assert len(err.strip().splitlines()) == 1
    assert "add a section [" in err


@pytest.mark.parametrize("study", ["graviton3"], indirect=True)
def test_a_price_has_its_currency(call: Any, study: Path) -> None:
    row = next(row for row in rows(call, study, "price") if (row["label"], row["processors"]) == ("n = 16", 8))
    assert row["price"] == pytest.approx(2.32 * (16 / 8 + 0.8) / 3600)
    assert row["currency"] == "USD"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("core_w = 3.49 ", "core_w = -3.49 ", "greater than or equal to 0"),
        ("core_w = 3.49 ", 'core_w = "much" ', "number"),
        ("waiting_core_w = 3.49 ", "waiting_core_w = 9.0 ", "at most core_w"),
        ("socket_w = 110.3 ", "socket_w = 0.0 ", "more than 0"),
        ("covers = ", "covered = ", "covers"),
    ],
)
def test_wrong_watts_are_refused_at_their_line(call: Any, tmp_path: Path, old: str, new: str, said: str) -> None:
    text = (resource_dir("machines") / "xeon-8360y.toml").read_text(encoding="utf-8")
    start = text.index("[power]")
    path = tmp_path / "mine.toml"
    path.write_text(text[:start] + text[start:].replace(old, new, 1), encoding="utf-8")
    code, _, err = call("machines", "check", path)
    assert code == 2
    assert said in err
    assert f"{path.name}:" in err


def test_nodes_of_unlike_speed_have_the_marked_speed_of_their_machine(call: Any, tmp_path: Path) -> None:
    """Nodes of speed 1 and 2 alternating, one processor each: 1, 3, 4 on 1 to 3 processors, W/T = 0.8 C beyond one."""
    machine = machines.load("now-switched", {"nodes.speeds": "[1.0, 2.0]"})
    assert machine.node_processors == 1
    path = tmp_path / "unlike.sgs"
    with Study.create(
        path, Manifest(program="p", machine=machine.name, machine_values=machine.model_dump(mode="json"))
    ) as made:
        for processors, marked in ((1, 1), (2, 3), (3, 4)):
            for n in (12, 24):
                run = _run(machine.name, processors, n)
                time = n / marked if processors == 1 else n / marked / 0.8
                made.add_run(run.model_copy(update={"time_s": time, "categories": {}}))
    found = rows(call, path, "marked-speed")
    assert {row["processors"]: row["relative_speed"] for row in found} == {1: 1, 2: 3, 3: 4}
    assert [row["speed_efficiency"] for row in found if row["processors"] > 1] == pytest.approx([0.8] * 4)


def test_an_energy_can_be_asserted(call: Any, study: Path) -> None:
    assert call("analyze", study, "--assert", 'value("energy_j", 8, n=4) < 1000')[0] == 0
    assert call("analyze", study, "--assert", 'value("energy_j", 8, n=4) < 1')[0] == 1


@pytest.mark.parametrize(("ranks", "nodes"), [(0, 1), (2, 4)])
def test_nodes_that_ranks_leave_partly_empty_are_paid_for(call: Any, tmp_path: Path, ranks: int, nodes: int) -> None:
    machine = machines.load("cluster-hdr100")
    path = tmp_path / "ranks.sgs"
    request = {"program": {"name": "burg", "ranks_per_node": ranks}, "machine": {"name": machine.name}}
    manifest = Manifest(
        program="burg", machine=machine.name, machine_values=machine.model_dump(mode="json"), request=request
    )
    with Study.create(path, manifest) as made:
        for processors in (1, 8):
            made.add_run(
                _run(machine.name, processors, 4).model_copy(update={"processes": processors, "threads_per_process": 1})
            )
    row = next(row for row in rows(call, path, "energy") if row["processors"] == 8)
    assert row["energy_base_j"] == pytest.approx(nodes * 110.3 * row["time_s"])
    hours = next(row for row in rows(call, path, "core-hours") if row["processors"] == 8)
    assert hours["node_hours"] == pytest.approx(nodes * row["time_s"] / 3600)
