"""A small file of each format, written here by hand or by code, with numbers that are easy to count."""

from __future__ import annotations

import io
import json
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from tests.measurements.hpctoolkit_database import before_version_four, version_four
from tests.measurements.sampled_profiles import SPEEDSCOPE, SPEEDSCOPE_EVENTS, V8

TEXT = """\
# what was measured
PARAMETER p n
POINTS (2 100) ( 4 100 )
POINTS (8 200)
METRIC time
REGION main->solve
DATA 1 2
DATA 3 4
DATA 5 6
REGION main
DATA 10
DATA 11
DATA 12
METRIC flops
DATA 1e3 1e3
DATA 1e3 1e3
DATA 1e3 1e3
"""

JSON_NEWER = {
    "parameters": ["p", "n"],
    "measurements": {
        "main->solve": {
            "time": [
                {"point": [2, 100], "values": [1.0, 2.0]},
                {"point": [4, 100], "values": [3, 4.5]},
                {"point": [8, 200], "values": [6]},
            ]
        },
        "main": {"time": [{"point": [p, n], "values": [10]} for p, n in ((2, 100), (4, 100), (8, 200))]},
    },
}

JSON_OLDER = {
    "parameters": [{"id": 1, "name": "p"}, {"id": 2, "name": "n"}],
    "callpaths": [{"id": 7, "name": "main"}, {"id": 3, "name": "main->solve"}],
    "metrics": [{"id": 1, "name": "time"}],
    "coordinates": [
        {
            "id": id_,
            "parameter_value_pairs": [
                {"parameter_id": 2, "parameter_value": 100 * id_},
                {"parameter_id": 1, "parameter_value": f"{2**id_}"},
            ],
        }
        for id_ in (1, 2)
    ],
    "measurements": [
        {"id": number, "coordinate_id": point, "callpath_id": path, "metric_id": 1, "value": number + 0.5}
        for number, (point, path) in enumerate([(1, 7), (1, 7), (2, 7), (1, 3), (2, 3)], 1)
    ],
}

LINES = """\
{"params": {"p": 2, "kind": "static"}, "callpath": "main", "metric": "time", "value": [1.0, 2.0]}
{"params": {"p": 4, "kind": "static"}, "callpath": "main", "metric": "time", "value": 3}

{"params": {"kind": "guided", "p": 4}, "callpath": "main", "metric": "time", "value": 4.5}
"""

TALPAS = """\
{"parameters":{"p":2};"metric":"time";"callpath":"main;loop";"value":1.5}
{"parameters":{"p":2};"metric":"time";"callpath":"main;loop";"value":2.5}
{"parameters":{"p":4};"metric":"time";"callpath":"main;loop";"value":3}
"""

CALIPER = """\
__rec=node,id=12,attr=10,data=276,parent=3
__rec=node,id=13,attr=8,data=region,parent=12
__rec=node,id=20,attr=10,data=512,parent=1
__rec=node,id=21,attr=8,data=jobsize,parent=20
__rec=node,id=22,attr=21,data=JOBSIZE
__rec=node,id=23,attr=10,data=512,parent=5
__rec=node,id=24,attr=8,data=elapsed_time,parent=23
__rec=node,id=25,attr=24,data=9.5,parent=22
__rec=node,id=30,attr=10,data=65,parent=5
__rec=node,id=31,attr=8,data=sum#time.duration,parent=30
__rec=node,id=32,attr=8,data=max#time.duration,parent=30
__rec=node,id=33,attr=10,data=65,parent=1
__rec=node,id=34,attr=8,data=mpi.rank,parent=33
__rec=node,id=40,attr=13,data=main
__rec=node,id=41,attr=13,data=solve\\, twice,parent=40
__rec=ctx,ref=40,attr=31=32=34,data=1.5=1.5=0
__rec=ctx,ref=40,attr=31=32=34,data=2.5=2.5=1
__rec=ctx,ref=41,attr=31=32=34,data=4=3=0
__rec=ctx,ref=41,attr=31=32=34,data=6=5=1
__rec=globals,ref=25
"""


def experiment(*, kept: bool = True) -> bytes:
    """Return two points, two repetitions each of ``main``; with *kept* single values and one metric by thread."""
    arrays = [
        np.array([1.0, 2.0]),
        np.array([3.0, 5.0]),
        np.array([[1.0, 3.0], [2.0, 6.0]]),
        np.array([[4, 4], [4, 8]]),
    ]
    entries = [
        {"coordinate": [p], "mean": float(values.mean()), "median": 2.0, "minimum": 1.0, "maximum": 5.0, "std": 0.5}
        | {"repetitions": len(values), "values": [0, number] if kept else None}
        for number, (p, values) in enumerate(zip((2.0, 4.0, 2.0, 4.0), arrays, strict=True))
    ]
    whole = {
        "Extra-P": "4.2.5",
        "scaling": "weak",
        "parameters": ["p"],
        "measurements": {"main": {"time": entries[:2]}, "main->f": {"visits": entries[2:]}},
        "modelers": [{"name": "m"}],
    }
    body, offsets = io.BytesIO(b"Extra-P VALUES\0\0"), []
    body.seek(0, io.SEEK_END)
    for values in arrays:
        offsets.append(body.tell())
        np.lib.format.write_array(body, values)
    index = b"Extra-P INDEX\0\0\0" + struct.pack(f"<{len(offsets) + 1}Q", len(offsets), *offsets)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        if kept:
            archive.writestr("values/0.vals", body.getvalue(), zipfile.ZIP_STORED)
            archive.writestr("values/0.indx", index, zipfile.ZIP_STORED)
        archive.writestr("experiment.json", json.dumps(whole))
    return file.getvalue()


def experiment_three(order: str = "<") -> bytes:
    """Return an experiment of Extra-P 3: two points of ``main`` and of ``main->f``, with its model data in between."""

    def text(*words: str) -> bytes:
        return b"".join(struct.pack(f"{order}I", len(word)) + word.encode() for word in words)

    def record(kind: str, number: int, *words: str, numbers: str = "", values: Sequence[float] = ()) -> bytes:
        return text(kind) + struct.pack(f"{order}q", number) + text(*words) + struct.pack(f"{order}{numbers}", *values)

    made = [struct.pack(f"{order}h", 1), text("EXTRAP_EXPERIMENT", "1.0"), record("Parameter", 0, "p")]
    made.append(record("Metric", 0, "time", "unknown"))
    for number, name in enumerate(("main", "f")):
        made.append(record("Region", number, name, "t.txt", numbers="q", values=[1]))
    made += [record("Callpath", i, numbers="qq", values=[i, i - 1]) for i in range(2)]
    for number, p in enumerate((2.0, 4.0)):
        made.append(record("Coordinate", number, numbers="q", values=[1]) + text("p") + struct.pack(f"{order}d", p))
    made += [record("ModelComment", 0, "a remark"), text("SingleParameterSimpleModelGenerator", "m"), b"\0" * 40]
    for number in range(4):
        mean = 1.0 + number
        values = [number % 2, 3, *[mean] * 3, 0.5, *[mean + 0.25] * 3, mean - 1, mean + 1, 0, number // 2]
        made.append(text("ExperimentPoint") + struct.pack(f"{order}qq9d2q", *values))
    return b"".join(made)


def cubex(
    times: Sequence[Sequence[float]], *, packed: bool = True, bar: str = "bar", first: Sequence[str] = ()
) -> bytes:
    """Return a profile: ``main`` and below it ``foo`` and *bar*; inclusive times by call path and thread.

    *first*: names of attached files placed before the values.
    """
    threads = range(len(times[0]))
    regions = "".join(
        f'<region id="{index}" mod="{name}.c" begin="{index + 3}" end="-1"><name>{name}</name></region>'
        for index, name in enumerate(("main", "foo", bar))
    )
    metrics = "".join(
        f'<metric id="{index}" type="{kind}"><disp_name>{name}</disp_name><uniq_name>{name}</uniq_name>'
        f"<dtype>{dtype}</dtype><uom>{unit}</uom><descr>{name}</descr></metric>"
        for index, (name, kind, dtype, unit) in enumerate(
            [
                ("time", "INCLUSIVE", "DOUBLE", "sec"),
                ("visits", "EXCLUSIVE", "UINT64", "occ"),
                ("min_time", "EXCLUSIVE", "MINDOUBLE", "sec"),
                ("bytes_put", "EXCLUSIVE", "UINT64", "bytes"),
            ]
        )
    )
    locations = "".join(f'<location Id="{i}"><name>T{i}</name><rank>{i}</rank></location>' for i in threads)
    anchor = (
        f'<?xml version="1.0" encoding="UTF-8"?><cube version="4.4"><metrics>{metrics}</metrics><program>{regions}'
        '<cnode id="0" calleeId="0"><cnode id="1" calleeId="1"/><cnode id="2" calleeId="2"/></cnode></program>'
        f'<system><systemtreenode Id="0"><name>m</name><locationgroup Id="0"><name>p</name><rank>0</rank>{locations}'
        "</locationgroup></systemtreenode></system></cube>"
    )
    visits = np.ones((3, len(threads)), "<u8")
    members = dict.fromkeys(first, b"// how metrics are renamed\n") | {
        "0.data": _data(np.array(times, "<f8").tobytes(), packed=packed),
        "0.index": _index([0, 1, 2]),
        "1.data": _data(visits.tobytes(), packed=packed),
        "1.index": _index([0, 1, 2]),
        "2.data": _data(np.array(times[:1], "<f8").tobytes(), packed=packed),
        "2.index": _index([0]),
        "anchor.xml": anchor.encode(),
    }
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, body in members.items():
            header = tarfile.TarInfo(name)
            header.size = len(body)
            archive.addfile(header, io.BytesIO(body))
    return file.getvalue()


def _index(positions: list[int]) -> bytes:
    return b"CUBEX.INDEX" + struct.pack(f"<ihbi{len(positions)}i", 1, 0, 1, len(positions), *positions)


def _data(body: bytes, *, packed: bool) -> bytes:
    if not packed:
        return b"CUBEX.DATA" + body
    squeezed = zlib.compress(body)
    return b"ZCUBEX.DATA" + struct.pack("<4q", 1, 0, 0, len(squeezed)) + squeezed


def _cube_directory(path: Path) -> None:
    for processes, repetition, factor in ((2, 1, 1.0), (2, 2, 2.0), (4, 1, 4.0)):
        run = path / f"app.p{processes}.n10.r{repetition}"
        run.mkdir(parents=True)
        times = [[5 * factor, 6 * factor], [1 * factor, 2 * factor], [3 * factor, 2 * factor]]
        (run / "profile.cubex").write_bytes(cubex(times))


def _caliper_directory(path: Path) -> None:
    path.mkdir()
    for number, size in enumerate(("2", "2", "4")):
        (path / f"run{number}.cali").write_text(CALIPER.replace("JOBSIZE", size))


SPLIT = {
    "data": [[1.5, 0, None, 0], [2.5, 1, None, 0], [4.0, 0, 3, 1], [6.0, 1, 3, 1], [0.5, 0, None, None]],
    "columns": ["time", "mpi.rank", "line", "path"],
    "column_metadata": [
        {"is_value": True, "attribute.unit": "sec"},
        {"is_value": True},
        {"is_value": False},
        {"is_value": False},
    ],
    "nodes": [{"label": "main", "column": "path"}, {"label": "solve", "column": "path", "parent": 0}],
    "jobsize": "2",
    "cali.channel": "x",
}
GOOGLE = {
    "context": {"num_cpus": 2, "library_build_type": "release"},
    "benchmarks": [
        {"name": f"BM_sort<int>/n:{n}/real_time/threads:{threads}", "run_type": kind, "threads": threads}
        | {"iterations": 10, "real_time": 2.5 * n + number, "cpu_time": 2.0 * n, "time_unit": "us", "items": 7.0}
        for number, (n, threads, kind) in enumerate(
            [(8, 1, "iteration"), (8, 1, "iteration"), (8, 1, "aggregate"), (8, 2, "iteration"), (64, 2, "iteration")]
        )
    ],
}
HYPERFINE = {
    "results": [
        {"command": f"./solve -t {threads}", "mean": 2.0, "user": 1.5, "system": 0.5}
        | {"times": [3.0 / threads, 4.0 / threads, 9.0], "exit_codes": [0, 0, 1], "parameters": {"t": f"{threads}"}}
        for threads in (1, 2, 4)
    ]
}
PYTEST = {
    "machine_info": {"node": "x"},
    "benchmarks": [
        {"name": f"test_sort[{n}]", "fullname": f"t.py::test_sort[{n}]", "params": {"n": n}}
        | {"stats": {"mean": n * 2.0, "data": [n * 1.0, n * 3.0]}}
        for n in (1, 2)
    ]
    + [{"name": "test_other", "params": None, "stats": {"mean": 1.0}}],
}
PERF = """\
# started on a day

TIME,msec,task-clock,886782,100.00,0.086,CPUs utilized
<not supported>,,cycles,0,100.00,,
1000,,instructions,5,100.00,,
2000000,ns,duration_time,2000000,100.00,,
"""


REFRAME = {
    "session_info": {"cmdline": "reframe -r", "data_version": "3.0", "num_cases": 3},
    "runs": [
        {
            "num_cases": 3,
            "testcases": [
                {"name": f"Solve_{tasks}", "display_name": f"Solve %tasks={tasks} %n=100", "result": result}
                | {"num_tasks": tasks, "perfvars": [{"name": "elapsed", "value": 8.0 / tasks, "unit": "s"}]}
                for tasks, result in ((1, "success"), (2, "success"), (4, "failure"))
            ],
        }
    ],
}
RAMBLE = {
    "experiments": [
        {
            "name": f"saxpy.problem.saxpy_{ranks}",
            "RAMBLE_STATUS": status,
            "RAMBLE_VARIABLES": {"n_ranks": str(ranks), "n": "512", "batch_time": "120", "app": "saxpy"},
            "CONTEXTS": [
                {
                    "name": "null",
                    "display_name": "null",
                    "foms": [
                        {"name": "Kernel time", "value": str(8.0 / ranks), "units": "s", "origin": "saxpy"},
                        {"name": "success", "value": "True", "units": "", "origin": "saxpy"},
                    ],
                },
                {
                    "name": "solve",
                    "display_name": "solve",
                    "foms": [{"name": "rate", "value": str(ranks * 1.5), "units": "GB/s", "origin": "saxpy"}],
                },
            ],
        }
        for ranks, status in ((1, "SUCCESS"), (2, "SUCCESS"), (4, "FAILED"))
    ]
}
JUBE = """\
jube_benchmark_id,jube_wp_id,nodes,tasks,runtime[s],iterations_avg
0,1,1,1,8.0,10
0,2,1,2,4.5,10
0,3,1,2,4.1,10
0,4,1,4,,
"""
LIKWID = """\
output of the program
STRUCT,Info,3,,
CPU name:,A processor,,
CPU type:,nothing,,
CPU clock:,2.5 GHz,,
TABLE,Group 1 Raw,FLOPS_DP,3,
Event,Counter,HWThread 0,HWThread 1,
INSTR_RETIRED_ANY,FIXC0,1000,2000,
DATA_READ,MBOX0C0,5,-,
DATA_READ,MBOX1C0,7,-,
TABLE,Group 1 Raw STAT,FLOPS_DP,3,,
Event,Counter,Sum,Min,Max,Avg
INSTR_RETIRED_ANY STAT,FIXC0,3000,1000,2000,1500
TABLE,Group 1 Metric,FLOPS_DP,2,
Metric,HWThread 0,HWThread 1,,
Runtime (RDTSC) [s],4.5,4.75,,
CPI,1.25,nan,,
"""
LIKWID_REGIONS = """\
TABLE,Region set, up,Group 1 Raw,CLOCK,1,
Region Info,HWThread 0,HWThread 1,,
RDTSC Runtime [s],0.5,0.25,,
call count,1,1,,
Event,Counter,HWThread 0,HWThread 1,
CYCLES,FIXC1,10,20,
TABLE,Region solve,Group 1 Raw,CLOCK,1,
Region Info,HWThread 0,HWThread 1,,
RDTSC Runtime [s],3,4,,
call count,2,2,,
Event,Counter,HWThread 0,HWThread 1,
CYCLES,FIXC1,30,40,
"""
GPROF = """\
Flat profile:

Each sample counts as 0.01 seconds.
  %   cumulative   self              self     total
 time   seconds   seconds    calls  ms/call  ms/call  name
 70.00      3.50     3.50      147    23.81    28.00  resid
 20.00      4.50     1.00                             std::sort<int*>(int*, int*)
 10.00      5.00     0.50       20    25.00    25.00  init
  0.00      5.00     0.00        2     0.00     0.00  init
"""
MPIP = """\
@ mpiP
@ Command : ./solve 100
@ Version                  : 3.5
@ MPI Task Assignment      : 0 n1
@ MPI Task Assignment      : 1 n1

---------------------------------------------------------------------------
@--- MPI Time (seconds) ---------------------------------------------------
---------------------------------------------------------------------------
Task    AppTime    MPITime     MPI%
   0         10          2    20.00 <-- min
   1       12.5        2.5    20.00
   *       22.5        4.5    20.00
---------------------------------------------------------------------------
@--- Callsites: 1 ---------------------------------------------------------
---------------------------------------------------------------------------
 ID Lev File/Address        Line Parent_Funct             MPI_Call
  1   0 solve.c               12 main                     Allreduce
---------------------------------------------------------------------------
@--- End of Report --------------------------------------------------------
---------------------------------------------------------------------------
"""
TAU = """\
5 templated_functions_MULTI_TIME
# Name Calls Subrs Excl Incl ProfileCalls # <metadata><attribute><name>n</name><value>1</value></attribute></metadata>
".TAU application" 1 1 500000 EXTRA 0 GROUP="TAU_DEFAULT"
"solve() [{solve.c} {3,1}-{9,1}]" 4 8 2000000 3000000 0 GROUP="TAU_USER"
"MPI_Send()" 8 0 WAIT WAIT 0 GROUP="MPI"
".TAU application => solve() [{solve.c} {3,1}-{9,1}]" 4 8 2000000 3000000 0 GROUP="TAU_USER|TAU_CALLPATH"
".TAU application => solve() [{solve.c} {3,1}-{9,1}] => MPI_Send()" 8 0 WAIT WAIT 0 GROUP="MPI|TAU_CALLPATH"
0 aggregates
1 userevents
# eventname numevents max min mean sumsqr
"Message size" 1 4 4 4 16
"""


def _tau_directory(path: Path) -> None:
    path.mkdir()
    for rank, wait in enumerate(("1000000", "1.5E6")):
        (path / f"profile.{rank}.0.0").write_text(TAU.replace("WAIT", wait).replace("EXTRA", "3500000"))


def _perf_directory(path: Path) -> None:
    path.mkdir()
    for processes, repetition in ((1, 1), (1, 2), (2, 1)):
        (path / f"app.p{processes}.r{repetition}.csv").write_text(PERF.replace("TIME", f"{processes + repetition}.5"))


def _file(body: bytes | str) -> Callable[[Path], None]:
    return lambda path: void(path.write_bytes(body if isinstance(body, bytes) else body.encode()))


def void(_: object) -> None:
    """Do nothing with a result."""


NPB = """
 NAS Parallel Benchmarks (NPB3.4-OMP) - CG Benchmark

 CG Benchmark Completed.
 Size            =                     1400
 Time in seconds =                     0.50
 Total threads   =                        4
 Mop/s total     =                  1330.00
 Mop/s/thread    =                   332.50
 Verification    =               SUCCESSFUL
 Version         =                    3.4.2
"""


def _logs(path: Path) -> None:
    """Write a directory with the output of `time` for three runs."""
    path.mkdir()
    for count, seconds in ((1, 10.0), (2, 5.2), (4, 2.8)):
        (path / f"run_n9_p{count}.log").write_text(f"\nreal\t0m{seconds}s\nuser\t0m9.8s\nsys\t0m0.1s\n")


# name of the sample: name of the reader, name of the file, how it is written
IMB = """\
#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part
# Benchmarking PingPong
# #processes = 2
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         1.50         0.00
            8         1000         2.00         4.00
# Benchmarking Alltoall
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000        10.00        12.00        11.00
# Benchmarking Alltoall
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000        20.00        24.00        22.00
# All processes entering MPI_Finalize
"""
SAMPLES: dict[str, tuple[str, str, Callable[[Path], None]]] = {
    "text": ("extrap-text", "t.txt", _file(TEXT)),
    "newer": ("extrap-json", "new.json", _file(json.dumps(JSON_NEWER, indent=1))),
    "older": ("extrap-json", "old.JSON", _file(json.dumps(JSON_OLDER, indent=1))),
    "lines": ("extrap-lines", "l.jsonl", _file(LINES)),
    "talpas": ("talpas", "t.txt", _file(TALPAS)),
    "experiment": ("extrap-experiment", "e.extra-p", _file(experiment())),
    "means": ("extrap-experiment", "m.extra-p", _file(experiment(kept=False))),
    "cube": ("cube", "cubes", _cube_directory),
    "cube-file": ("cube-file", "c.cubex", _file(cubex([[5.0, 6.0], [1.0, 2.0], [3.0, 2.0]]))),
    "cube-attached": (
        "cube-file",
        "a.cubex",
        _file(cubex([[5.0, 6.0], [1.0, 2.0], [3.0, 2.0]], first=["remapping.spec"])),
    ),
    "extrap-3": ("extrap-3", "e3.extra-p", _file(experiment_three())),
    "caliper": ("caliper", "c.cali", _file(CALIPER.replace("JOBSIZE", "2"))),
    "caliper-directory": ("caliper-directory", "calis", _caliper_directory),
    "split": ("caliper-json", "s.json", _file(json.dumps(SPLIT, indent=1))),
    "google": ("google-benchmark", "g.json", _file(json.dumps(GOOGLE, indent=1))),
    "hyperfine": ("hyperfine", "h.json", _file(json.dumps(HYPERFINE, indent=1))),
    "pytest": ("pytest-benchmark", "p.json", _file(json.dumps(PYTEST, indent=1))),
    "reframe": ("reframe", "r.json", _file(json.dumps(REFRAME, indent=1))),
    "ramble": ("ramble", "results.json", _file(json.dumps(RAMBLE, indent=1))),
    "jube": ("jube", "result.csv", _file(JUBE)),
    "likwid": ("likwid", "likwid.csv", _file(LIKWID)),
    "likwid-regions": ("likwid", "regions.csv", _file(LIKWID_REGIONS)),
    "gprof": ("gprof", "gprof.txt", _file(GPROF)),
    "mpip": ("mpip", "solve.2.1234.1.mpiP", _file(MPIP)),
    "tau": ("tau", "taus", _tau_directory),
    "hpctoolkit": ("hpctoolkit", "hpctoolkit", version_four),
    "hpctoolkit-xml": ("hpctoolkit", "hpctoolkit-xml", before_version_four),
    "perf": ("perf-directory", "perfs", _perf_directory),
    "speedscope": ("sampled-json", "app.p2.json", _file(json.dumps(SPEEDSCOPE))),
    "speedscope-events": ("sampled-json", "app.p2.json", _file(json.dumps(SPEEDSCOPE_EVENTS))),
    "v8": ("sampled-json", "app.p2.cpuprofile", _file(json.dumps(V8))),
    "program": ("program-output", "cg.out", _file(NPB)),
    "logs": ("log-directory", "logs", _logs),
    "imb": ("imb", "imb.out", _file(IMB)),
}


def write(sample: str, directory: Path) -> Path:
    """Write *sample* below *directory* and return its path."""
    _, name, writer = SAMPLES[sample]
    path = directory / name
    writer(path)
    return path
