"""Outputs of tools that resemble tables: recognised, so that they are refused with advice."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TABLE = "write the processors and times of all runs in a table, as docs/MEASUREMENTS.md shows"
_ONE = "that is a profile of one run, without times at several processor counts"
_INSTEAD = f"{_ONE}: {_TABLE}"
_STUDY = f"for a scaling study, {_TABLE}"
_LOGS = "put the outputs of all runs in one directory (run_p4.log, run_p8.log, ..), which is read"
_STAT = r"[^,;\n]*[,;][^,;\n]*[,;][A-Za-z][^,;\n]*[,;]\d+[,;][\d.]+([,;]|$)"  # value, unit, event, time, share


@dataclass(frozen=True)
class Tool:
    """A tool's output: *name* for display, *marks* that are all in its first lines, and what to *do* about it."""

    name: str
    marks: tuple[str, ...]
    do: str
    endings: tuple[str, ...] = ()  # of files recognised by nothing else

    @property
    def sentence(self) -> str:
        """What a file of this tool is, and what to do."""
        return f"is {self.name}; {self.do}"


_PANDAS = "python -c 'import pandas; {}.to_csv(\"table.csv\", index=False)'"


def _frame(name: str, mark: str, reading: str, *endings: str) -> Tool:
    """Return a container of tables that pandas reads by the expression *reading*."""
    return Tool(name, (mark,) if mark else (), f"`{_PANDAS.format(reading)}` makes a CSV of it, which is read", endings)


_STAT_OF_PERF = f"{_ONE}: `perf stat -x, -o app.p4.r1.csv` of runs on several processor counts gives these"
_TOOLS = (
    Tool(
        "the output of perf script",
        (r"^\S.*? +\d+(/\d+)? +(\[\d+\] +)?\d+\.\d{6,9}: +(\d+ +)?[\w./:-]+: *([0-9a-f]+ .*)?$",),
        f"{_STAT_OF_PERF}; speedscope (`npx speedscope FILE`) exports one thread of it as JSON, which is read",
    ),
    Tool("a recording of perf", (r"\APERFILE2|\A2ELIFREP",), _STAT_OF_PERF),
    Tool(
        "an export of Nsight Systems (SQLite)",
        (r"\ASQLite format 3\x00", r"CUPTI_ACTIVITY_KIND_|TARGET_INFO_|NVTX_EVENTS|OSRT_API"),
        f"`nsys stats -r nvtx_sum,cuda_gpu_kern_sum -f csv FILE` prints its tables, each of one run: {_TABLE}",
    ),
    Tool(
        "a report of Nsight Systems",
        (),
        f"`nsys stats -r nvtx_sum,cuda_gpu_kern_sum -f csv FILE` prints its tables, each of one run: {_TABLE}",
        endings=(".nsys-rep", ".qdrep"),
    ),
    Tool(
        "a trace of Perfetto",
        (),
        "`scalegraph trace info FILE` reads it with the extra scalegraph[perfetto]; `traceconv json FILE "
        "trace.json` makes Chrome's JSON, which is read without",
        endings=(".pftrace", ".perfetto-trace", ".perfetto"),
    ),
    Tool(
        "the traces in a database of HPCToolkit",
        (r"\AHPCTOOLKITtrce",),
        "give its directory, whose times by function are read; `hpcviewer` shows the traces",
    ),
    Tool(
        "the text of likwid-perfctr",
        (r"^(Region .*, )?Group \d+: ?\w+|likwid-perfctr", r"^\| +Event +\|"),
        "run it with -o run.csv (or -O), which is read",
    ),
    Tool(
        "the text of perf stat",
        (r"^ *Performance counter stats for ",),
        f"{_LOGS}; `perf stat -x, -o app.p4.r1.csv` keeps all counters",
    ),
    Tool(
        "one file of `perf stat -x,`",
        (rf"\A(#.*\n|\n)*{_STAT}",),
        "put the files of all runs in one directory (app.p4.r1.csv, ..), which is read",
    ),
    Tool(
        "a report of perf",
        (r"^# (Overhead|Children) +|^# +Overhead +", r"^# Samples: |^# Event count"),
        f"{_ONE}: `perf stat -x, -o app.p4.r1.csv` gives these",
    ),
    Tool("the output of GNU time -v", (r"^\s*Command being timed:", r"Elapsed \(wall clock\) time"), _LOGS),
    Tool("the output of time", (r"^real\s+(\d+m)?[\d.,]+s?\s*$", r"^user\s", r"^sys\s"), _LOGS),
    Tool(
        "the output of HPL",
        (r"^HPLinpack \d|High-Performance Linpack benchmark", r"^T/V\s+N\s+NB|^N +: "),
        "it holds no line of a result (WR00L2L2 N NB P Q Time Gflops), so no run ended",
    ),
    Tool(
        "the output of BabelStream",
        (r"^BabelStream\s*$|^BabelStream ", r"^Version: \d"),
        f"it does not say how many threads ran: {_LOGS}",
    ),
    Tool(
        "a profile of Firefox (Gecko)",
        (r'\A\s*\{"meta":\s*\{"(interval|categories|version)"',),
        "open it in speedscope (`npx speedscope FILE`) and export one thread as speedscope's JSON, which is read",
    ),
    Tool(
        "a call graph of gprof",
        (r"^\s*Call graph|^index % time +self +children", r"granularity: each|called +name"),
        "`gprof -p` prints the flat profile, which is read",
    ),
    Tool(
        "a profile of nvprof",
        (r"^==\d+== (NVPROF|Profiling)|^\"?Type\"?,\"?Time\(%\)\"?,\"?Time\"?,\"?Calls\"?",),
        _INSTEAD,
    ),
    Tool("a summary of nsys", (r"Time \(%\),\s*Total Time \(ns\)|Time \(%\) +Total Time \(ns\)",), _INSTEAD),
    Tool("a report of ncu", (r"\"ID\",\"Process ID\",\"Process Name\"",), _INSTEAD),
    Tool("a report of VTune", (r"^Function( Stack)?[,\t;].*CPU Time", r"^.*Module"), _INSTEAD),
    Tool(
        "the output of callgrind",
        (r"^# callgrind format|^events: Ir|^Profile data file '?.*callgrind",),
        "that counts instructions of one simulated run: measure times without valgrind",
    ),
    Tool(
        "a report of massif",
        (r"^desc: ", r"^mem_heap_B=|^snapshot=|^cmd: "),
        "that is memory of one run, without times",
    ),
    Tool(
        "the output of TAU's pprof",
        (r"^Reading Profile files in profile|^%Time +Exclusive +Inclusive +#Call",),
        "the directory of its profile.0.0.0 files is read: give that",
    ),
    Tool(
        "one file of a TAU profile",
        (r"\A\d+ templated_functions",),
        "its directory is read: give that",
    ),
    Tool(
        "one file of a database of HPCToolkit",
        (r"\A(HPCTOOLKIT|HPCPROF-metricdb)|<!DOCTYPE HPCToolkitExperiment|<HPCToolkitExperiment",),
        "its directory is read: give that",
    ),
    Tool(
        "the CSV of Google Benchmark",
        (r"^name,iterations,real_time,cpu_time,time_unit,",),
        "its JSON is read: --benchmark_out=run.json --benchmark_out_format=json",
    ),
    Tool(
        "the output of IOR",
        (r"^IOR-\d|^access +bw\(MiB/s\)", r"bw\(MiB/s\)|MPI Coordinated Test of Parallel I/O"),
        "for scaling, write the tasks and the bandwidth [MiB/s] of all runs in a table, as docs/MEASUREMENTS.md shows",
    ),
    Tool("the output of strace -c", (r"^% time +seconds +usecs/call +calls",), _INSTEAD),
    Tool(
        "a log of darshan-parser",
        (r"^# darshan log version:",),
        "that is input and output of one run, without times",
    ),
    Tool("a report of IPM", (r"^##IPM",), _INSTEAD),
    _frame("a Parquet file", r"\APAR1", 'pandas.read_parquet("FILE")'),
    _frame("an Arrow (Feather) file", r"\AARROW1", 'pandas.read_feather("FILE")'),
    _frame("an array of NumPy", r"\A.NUMPY", 'import numpy; pandas.DataFrame(numpy.load("FILE"))'),
    _frame("an HDF5 file", r"\A.HDF\r?\n", 'pandas.read_hdf("FILE")'),
    _frame("a file of Stata", r"\A<stata_dta>", 'pandas.read_stata("FILE")'),
    _frame(
        "a pickle of Python (reading one runs the code in it, so only one that you trust)",
        "",
        'pandas.read_pickle("FILE")',
        ".pkl",
        ".pickle",
    ),
    _frame(
        "a page of HTML with a table",
        r"\A\s*<(!DOCTYPE html|!doctype html|html|table|div|style)\b",
        'pandas.read_html("FILE")[0]',
        ".html",
        ".htm",
        ".xhtml",
    ),
    _frame("XML", r"\A\s*<\?xml ", 'pandas.read_xml("FILE")', ".xml"),
    _frame("YAML", "", 'import yaml; pandas.json_normalize(yaml.safe_load(open("FILE")))', ".yaml", ".yml"),
    Tool(
        "a data file of R", (), '`Rscript -e \'write.csv(readRDS("FILE"), "table.csv")\'` makes a CSV of it', (".rds",)
    ),
    Tool("a PDF", (r"\A%PDF-",), "`pdftotext -layout FILE table.txt` writes its text, whose tables are read"),
    Tool(
        "a picture", (r"\A(.PNG\r?\n|\ufffd\ufffd\ufffd\ufffd?.{0,4}(JFIF|Exif)|GIF8)",), f"a table is read: {_TABLE}"
    ),
    Tool(
        "the output of scorep-score",
        (r"^Estimated aggregate size of event trace",),
        "give the profile.cubex that it was made of, which is read",
    ),
)


def told(head: bytes, name: str = "") -> str:
    """Return a sentence on which tool's output begins with *head*, in a file called *name*, and what to do.

    Empty if unknown.
    """
    text = head.decode("utf-8", "replace").replace("\r\n", "\n")
    for tool in _TOOLS:
        if tool.endings and not name.lower().endswith(tool.endings):
            continue
        if all(re.search(mark, text, re.MULTILINE) for mark in tool.marks):
            return tool.sentence.replace("FILE", name) if name and "'" not in name else tool.sentence
    return ""
