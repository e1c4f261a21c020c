"""Tool reports: supported ones give the numbers counted by hand, others are refused with advice."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.measurements.table import guess_table
from scalegraph.request.imports.sets import answered, opened, read_set, reader_of
from scalegraph.request.results.data import study_data
from scalegraph.subjects.pop_efficiencies import efficiencies
from tests.measurements.samples import GPROF, LIKWID, MPIP, REFRAME, TAU, write
from tests.measurements.test_formats import load, points, series

FOREIGN = {
    "likwid-perfctr": "Group 1: CLOCK\n+------+------+\n|  Event  | Counter | HWThread 0 |\n+---+---+\n"
    "| INSTR_RETIRED_ANY | FIXC0 | 1000 |\n",
    "perf stat": " Performance counter stats for './solve':\n\n   1,234.56 msec task-clock   #  0.99 CPUs\n",
    "perf stat -x,": "# started on Sunday\n\n12.5,msec,task-clock,886782,100.00,0.086,CPUs\n5,,cycles,1,100.00,,\n",
    "perf": "# To display\n#\n# Samples: 4K of event 'cycles'\n# Event count (approx.): 12\n#\n"
    "# Overhead  Command  Shared Object  Symbol\n  61.00%  solve  solve  [.] sweep\n",
    "GNU time": '\tCommand being timed: "./solve"\n\tUser time (seconds): 1.00\n'
    "\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:01.02\n",
    "time": "\nreal\t0m1.234s\nuser\t0m4.000s\nsys\t0m0.010s\n",
    "gprof": "\t\t     Call graph (explanation follows)\n\ngranularity: each sample hit covers 4 byte(s)\n\n"
    "index % time    self  children    called     name\n[1]    100.0    8.56    0.00      55         leaf [1]\n",
    "nvprof": '==123== NVPROF is profiling process 123\n"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"\n'
    ',%,ms,,us,us,us,\n"GPU activities",50.0,1.5,4,2,1,3,"k"\n',
    "nsys": "Time (%),Total Time (ns),Instances,Avg (ns),Name\n50.0,1200,4,300,k\n",
    "ncu": '"ID","Process ID","Process Name","Host Name","Kernel Name"\n"0","12","a","b","c"\n',
    "VTune": "Function\tModule\tCPU Time\nsweep\tsolve\t1.5\nsum\tsolve\t0.5\n",
    "callgrind": "# callgrind format\nversion: 1\nevents: Ir\nfn=main\n3 5\n",
    "massif": "desc: --time-unit=i\ncmd: ./solve\ntime_unit: i\n#-----------\nsnapshot=0\n",
    "pprof": "Reading Profile files in profile.*\n\nNODE 0;CONTEXT 0;THREAD 0:\n%Time  Exclusive  Inclusive  #Call\n",
    "TAU": TAU,
    "HPL": "====\nHPLinpack 2.3  --  High-Performance Linpack benchmark\n\nN      :   29184\n",
    "BabelStream": "BabelStream\nVersion: 5.0\nImplementation: OpenMP\n",
    "Gecko": '{"meta":{"interval":1,"startTime":1.5},"libs":[]}\n',
    "strace": "% time     seconds  usecs/call     calls    errors syscall\n------ --- ---\n 50.0 0.1 2 3 read\n",
    "darshan": "# darshan log version: 3.41\n# exe: ./solve\nPOSIX\t0\t1\tPOSIX_OPENS\t2\n",
    "scorep-score": "\nEstimated aggregate size of event trace:                   8MB\nflt type max_buf visits time\n",
}


@pytest.mark.parametrize("tool", FOREIGN)
@pytest.mark.parametrize("ending", [".txt", ".csv"])
def test_outputs_of_tools_are_refused_by_name(tmp_path: Path, tool: str, ending: str) -> None:
    path = tmp_path / f"report{ending}"
    path.write_text(FOREIGN[tool])
    with pytest.raises(InputError) as caught:
        reader_of(path)
    (fault,) = caught.value.faults
    assert tool.removesuffix(" -x,") in fault.message
    assert ";" in fault.message  # what it is; what to do
    assert reader_of(path, "table").name == "table"  # stated to be one


@pytest.mark.parametrize(
    "text",
    [
        "time,user,sys,threads\n1.5,2,0.1,1\n0.8,2,0.1,2\n",
        "Function,Time (%),threads\nmain,50,1\n",
        "# Samples: 4\n# p time\n1 8\n2 4\n",
        "events,p,time [s]\n3,1,2.0\n",
        "Group,p,time [s]\nA,1,2.0\nA,2,1.1\n",
    ],
)
def test_tables_that_resemble_them_are_tables(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert reader_of(path).name == "table"
    assert guess_table(path).columns


def test_likwid_counts_and_times(tmp_path: Path) -> None:
    found = load(write("likwid", tmp_path))
    assert (found.parameters, points(found)) == (("threads",), [(2,)])
    assert series(found, "program", "elapsed") == [[4.75]]
    assert series(found, "program", "INSTR_RETIRED_ANY") == [[3000]]
    assert series(found, "program", "DATA_READ") == [[12]]
    assert [(each.what, each.count) for each in found.skipped] == [("derived metrics", 1)]
    regions = load(write("likwid-regions", tmp_path))
    assert regions.paths == ("set, up", "solve")
    assert series(regions, "solve", "elapsed") == [[4]]
    assert series(regions, "solve", "calls") == [[4]]


def test_several_runs_of_likwid_are_a_study(tmp_path: Path) -> None:
    paths = []
    for threads, seconds in ((1, 8.0), (2, 4.25)):
        text = LIKWID.replace("4.5,4.75", ",".join([str(seconds)] * threads)).replace(
            "1000,2000", ",".join("9" * threads)
        )
        text = text.replace("HWThread 0,HWThread 1", ",".join(f"HWThread {n}" for n in range(threads)))
        paths.append(tmp_path / f"run{threads}.csv")
        paths[-1].write_text(text)
    with opened(paths) as study:
        rows = study_data(study).scaling
    assert list(rows["processors"]) == [1, 2]
    assert list(rows["speedup"]) == pytest.approx([1, 8 / 4.25])


@pytest.mark.slow
def test_gprof_functions_stand_below_the_program(tmp_path: Path) -> None:
    found = load(write("gprof", tmp_path))
    assert points(found) == [(1,)]
    assert found.paths == (
        "program",
        "program->resid",
        "program->std::sort<int*>(int*, int*)",
        "program->init",
        "program->init #2",
    )
    assert series(found, "program->resid", "time") == [[3.5]]
    assert series(found, "program->resid", "calls") == [[147]]
    with opened([tmp_path / "gprof.txt"]) as study:
        assert list(study_data(study).scaling["time_s"]) == [5.0]
    named = tmp_path / "app.p4.n10.r1.txt"
    named.write_text(GPROF)
    assert (load(named).parameters, points(load(named))) == (("p", "n"), [(4, 10)])


def test_mpip_times_give_pop_efficiencies(tmp_path: Path) -> None:
    path = write("mpip", tmp_path)
    found = load(path)
    assert (found.parameters, points(found)) == (("ranks",), [(2,)])
    assert series(found, "program->MPI_*", "time") == [[4.5]]
    assert series(found, "program", "elapsed") == [[12.5]]
    assert series(found, "program", "busiest") == [[10]]
    with opened([path]) as study:
        data = study_data(study)
    (row,) = efficiencies(data, data.scaling).to_dict("records")
    assert row["parallel"] == pytest.approx(9 / 12.5)
    assert row["load_balance"] == pytest.approx(9 / 10)
    (tmp_path / "cut.mpiP").write_text(MPIP.partition("   *")[0])
    with pytest.raises(InputError, match="is cut off"):
        read_set([tmp_path / "cut.mpiP"])


def test_tau_profiles_by_call_path(tmp_path: Path) -> None:
    found = load(write("tau", tmp_path))
    assert points(found) == [(2,)]
    assert found.paths == (".TAU application", ".TAU application->solve()", ".TAU application->solve()->MPI_Send()")
    assert series(found, found.paths[0], "time") == [[1.0]]
    assert series(found, found.paths[1], "time") == [[4.0]]
    assert series(found, found.paths[2], "time") == [[2.5]]
    assert series(found, found.paths[0], "elapsed") == [[4.0]]
    assert series(found, found.paths[0], "busiest") == [[2.5]]
    assert series(found, found.paths[2], "calls") == [[16]]
    mapping = answered(found).mapping
    assert (mapping.processors, mapping.total, mapping.summed) == ("locations", ".TAU application", True)
    counters = tmp_path / "counters"
    counters.mkdir()
    (counters / "profile.0.0.0").write_text(TAU.replace("_TIME", "_PAPI_FP_OPS"))
    with pytest.raises(InputError, match="holds PAPI_FP_OPS; expected TIME"):
        load(counters)


def test_reframe_cases_that_passed_by_their_parameters(tmp_path: Path) -> None:
    found = load(write("reframe", tmp_path))
    assert found.paths == ("Solve",)
    assert (found.parameters, points(found)) == (("tasks", "n"), [(1, 100), (2, 100)])
    assert series(found, "Solve", "elapsed") == [[8], [4]]
    assert [(each.what, each.count) for each in found.skipped] == [("test cases", 1)]
    newer = REFRAME | {
        "runs": [
            {
                "testcases": [
                    {
                        "name": "Solve",
                        "result": "pass",
                        "num_tasks": tasks,
                        "perfvalues": {"s:p:time": [8 / tasks, 0, 0, 0, "s"]},
                    }
                    for tasks in (1, 2)
                ]
            }
        ]
    }
    (tmp_path / "n.json").write_text(json.dumps(newer))
    with opened([tmp_path / "n.json"]) as study:
        assert list(study_data(study).scaling["speedup"]) == pytest.approx([1, 2])


def test_jube_work_packages_of_the_same_parameters_are_repetitions(tmp_path: Path) -> None:
    found = load(write("jube", tmp_path))
    assert (found.parameters, points(found)) == (("nodes", "tasks"), [(1, 1), (1, 2)])
    assert series(found, "program", "runtime") == [[8.0], [4.5, 4.1]]
    assert [(each.what, each.count) for each in found.skipped] == [("work packages", 1)]
    (tmp_path / "cut.csv").write_text("jube_wp_id,tasks,time[s]\n1,2,3.0\n2,4\n")
    with pytest.raises(InputError, match=r"cut.csv:3: expected 3 cells, found 2"):
        load(tmp_path / "cut.csv")


def test_ramble_experiments_that_succeeded_by_their_variables(tmp_path: Path) -> None:
    found = load(write("ramble", tmp_path))
    assert (found.parameters, points(found)) == (("n_ranks",), [(1,), (2,)])  # the others are equal in all
    assert series(found, "program", "Kernel time") == [[8.0], [4.0]]
    assert series(found, "solve", "rate") == [[1.5], [3.0]]
    assert [(each.what, each.count) for each in found.skipped] == [("experiments", 1)]


ASV = {
    "commit_hash": "1a2b",
    "env_name": "conda-py3.11",
    "params": {"machine": "m"},
    "python": "3.11",
    "version": 2,
    "result_columns": ["result", "params", "version"],
    "results": {
        "solve.Suite.time_step": [[4.0, 2.2, None, 1.0], [["1", "2"], ["'small'", "'large'"]], "v"],
        "solve.Suite.peakmem_step": [[1e6, 2e6, 1.1e6, 2.1e6], [["1", "2"], ["'small'", "'large'"]], "v"],
        "solve.track_nothing": [[3.0], [], "v"],
    },
}


def test_asv_has_parameters_by_their_places(tmp_path: Path) -> None:
    path = tmp_path / "1a2b-conda.json"
    path.write_text(json.dumps(ASV))
    found = load(path)
    assert found.format == "asv"
    assert found.parameters == ("param1", "param2")
    grid = found.grid(found.metric("time"))[found.paths.index("solve.Suite.time_step")]
    at = {tuple(point): float(value) for point, value in zip(found.points.to_numpy(), grid[:, 0], strict=True)}
    assert at[(1, "small")] == 4.0
    assert at[(2, "large")] == 1.0
    assert {item.what for item in found.skipped} == {"results", "benchmark solve.track_nothing"}
    path.write_text(json.dumps({**ASV, "results": {"a.time_b": [[1.0], [["1", "2"]], "v"]}}))
    with pytest.raises(InputError, match="has 1 values; expected 2, one for each combination"):
        load(path)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "s.txt",
            b"solve  43 [001]  1234.568890:     250000 cpu-clock:pppH:  55d0a2c1 main+0x21 (/u/solve)\n",
            "perf script",
        ),
        ("s.txt", b"solve  43  12.568890:     2500 cycles:u: \n\t 55d0a2c1 main+0x21 (/u/solve)\n", "perf script"),
        ("perf.data", b"PERFILE2" + bytes(100), "a recording of perf"),
        ("a.pftrace", b"\x0a\x20\x50\x01" * 9, "`traceconv json .*a.pftrace trace.json`"),
        ("r.nsys-rep", b"\x01" * 50, "`nsys stats"),
        ("trace.db", b"HPCTOOLKITtrce" + bytes(100), "give its directory"),
    ],
)
def test_what_is_not_read_is_named_with_what_to_do(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_set([path])
    with pytest.raises(InputError, match=words):
        opened([path])


def test_an_export_of_nsight_is_no_study(tmp_path: Path) -> None:
    path = tmp_path / "report1.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as made:
        made.execute("create table CUPTI_ACTIVITY_KIND_KERNEL(start int, end int)")
        made.commit()
    with pytest.raises(InputError, match="is an export of Nsight Systems"):
        opened([path])
