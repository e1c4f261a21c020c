"""Differences between runs become parameters: texts, whole numbers written as fractions, in files and directories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.measurements.runs import make_runs
from scalegraph.request.imports.sets import answered, read_set
from tests.measurements.samples import CALIPER, SPLIT


def cali(jobs: int, *, size: str = "1e6", **texts: str) -> str:
    """Return a profile with more globals: *size*, a double, and *texts*."""
    last, more, node = 22, [], 50
    for name, value, kind in [("size", size, 23), *((name, value, 60) for name, value in texts.items())]:
        more += [f"__rec=node,id={node},attr=8,data={name},parent={kind}"]
        more += [f"__rec=node,id={node + 1},attr={node},data={value},parent={last}"]
        last, node = node + 1, node + 2
    kinds = "__rec=node,id=60,attr=10,data=512,parent=3"
    body = CALIPER.replace("JOBSIZE", str(jobs)).replace("data=9.5,parent=22", f"data=9.5,parent={last}")
    head, rest = body.split("__rec=node,id=24", 1)
    return "\n".join([head.rstrip(), kinds, *more, "__rec=node,id=24" + rest])


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def parameters(measured_of: list[Path]) -> dict[str, list[object]]:
    measured = read_set(measured_of)
    return {name: list(measured.points[name]) for name in measured.parameters}


@pytest.mark.parametrize("way", ["files", "directory", "directories"])
def test_runs_of_caliper_that_differ_in_a_text_or_a_size_are_no_repetitions(tmp_path: Path, way: str) -> None:
    runs = [("a", "block_128", "1048576.0"), ("a", "block_256", "1048576.0"), ("b", "block_128", "2097152.0")]
    files = [
        put(
            tmp_path / (f"{at}/{number}" if way == "directories" else "") / f"{number}.cali",
            cali(2, size=size, tuning=tuning, flags=f"-D {tuning}", hostname=f"n{number}"),
        )
        for number, (at, tuning, size) in enumerate(runs)
    ]
    found = parameters(files if way == "files" else [tmp_path])
    assert found == {
        "jobsize": [2, 2, 2],
        "size": [1048576, 1048576, 2097152],
        "tuning": ["block_128", "block_256", "block_128"],
    }
    notes = read_set([tmp_path]).notes
    assert any("flags follows from" in note for note in notes)


def test_runs_on_several_hosts_are_no_repetitions(tmp_path: Path) -> None:
    runs = [("alpha", 2), ("alpha", 4), ("beta", 2), ("beta", 4)]
    files = [put(tmp_path / f"{at}.cali", cali(p, hostname=host)) for at, (host, p) in enumerate(runs)]
    assert parameters(files)["hostname"] == [host for host, _ in runs]
    clusters = [put(tmp_path / f"c{name}.cali", cali(2, cluster=name)) for name in ("ruby", "tuolumne")]
    assert parameters(clusters)["cluster"] == ["ruby", "tuolumne"]


def test_a_text_that_only_some_runs_have(tmp_path: Path) -> None:
    files = [put(tmp_path / "1.cali", cali(2, cuda="10")), put(tmp_path / "2.cali", cali(2, variant="seq"))]
    assert parameters(files)["variant"] == ["none", "seq"]


def test_split_json_of_several_runs(tmp_path: Path) -> None:
    files = [
        put(tmp_path / f"{number}.json", json.dumps({**SPLIT, "variant": variant}))
        for number, variant in enumerate(("omp", "tbb", "omp"))
    ]
    assert parameters(files)["variant"] == ["omp", "tbb"]


def experiment(ranks: int, model: str, repeat: int) -> dict[str, object]:
    """Return an experiment of Ramble in Benchpark's form; *repeat* 0 holds statistics of the others."""
    name = f"kripke_{model}_{ranks}"
    kinds = ("mean", "stdev", "max") if repeat == 0 else ("application",)
    foms = [
        {
            "name": "Solve time",
            "value": (8.0 if model == "mpi" else 12.0) / ranks,
            "units": "s",
            "origin_type": kind if repeat else f"summary::{kind}",
        }
        for kind in kinds
    ]
    said = {
        "n_nodes": str(max(1, ranks // 4)),
        "n_ranks": str(ranks),
        "model": model,
        "nx": "64",
        "experiment_name": name,
        "experiment_run_dir": f"/x/{name}.{repeat}",
        "mpi_command": f"srun -n {ranks}",
        "repeat_index": str(repeat),
    }
    beside = {"n_threads": 1, "application_name": "kripke", "RAMBLE_STATUS": "SUCCESS"}
    contexts = [{"name": "null", "display_name": "null", "foms": foms}]
    return {"name": f"{name}.{repeat}", **beside, "RAMBLE_VARIABLES": said, "CONTEXTS": contexts}


@pytest.mark.parametrize("apart", [False, True])
def test_benchpark_goes_in_without_an_option(tmp_path: Path, apart: bool) -> None:
    made = {
        model: [experiment(ranks, model, repeat) for ranks in (1, 2, 4, 8) for repeat in (0, 1, 2)]
        for model in ("mpi", "openmp")
    }
    parts = list(made.values()) if apart else [[*made["mpi"], *made["openmp"]]]
    files = [
        put(tmp_path / f"{number}.json", json.dumps({"experiments": part}, indent=1))
        for number, part in enumerate(parts)
    ]
    guess = answered(read_set(files))
    runs, _ = make_runs(guess.measured, guess.mapping)
    found = [(run.point.parameters["model"], run.point.processors, run.time_s) for run in runs]
    assert sorted(found) == sorted(
        (model, ranks, work / ranks)
        for model, work in (("mpi", 8.0), ("openmp", 12.0))
        for ranks in (1, 2, 4, 8)
        for _ in range(2)
    )


def test_reframe_of_two_tests_goes_in_without_an_option(tmp_path: Path) -> None:
    cases = [
        {
            "name": f"{test}_{ranks}",
            "display_name": f"{test} %num_tasks={ranks}",
            "result": "pass",
            "num_tasks": ranks,
            "system": "daint",
            "partition": "gpu",
            "perfvalues": {"daint:gpu:elapsed": [work / ranks, 0, None, None, "s", "pass"]},
        }
        for test, work in (("Solve", 8.0), ("Mesh", 4.0))
        for ranks in (1, 2, 4)
    ]
    document = {"session_info": {"data_version": "4.0"}, "runs": [{"testcases": cases}]}
    guess = answered(read_set([put(tmp_path / "r.json", json.dumps(document, indent=1))]))
    runs, _ = make_runs(guess.measured, guess.mapping)
    found = [(run.point.parameters["test"], run.point.processors, run.time_s) for run in runs]
    assert found == [
        (test, ranks, work / ranks) for test, work in (("Solve", 8.0), ("Mesh", 4.0)) for ranks in (1, 2, 4)
    ]


def test_a_number_that_only_some_runs_have_is_refused(tmp_path: Path) -> None:
    files = [put(tmp_path / "1.cali", cali(2)), put(tmp_path / "2.cali", cali(2).replace("jobsize", "ranks"))]
    with pytest.raises(InputError, match="has no 'jobsize' among its settings"):
        read_set(files)
