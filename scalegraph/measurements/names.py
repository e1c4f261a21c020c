"""Common names for measured things: processors, times, repetitions, sizes; and units in names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from scalegraph.measurements.mapping import SECONDS
from scalegraph.measurements.model import MetricKind

Names: TypeAlias = frozenset[str]


def words(text: str) -> Names:
    """Return the words of *text*."""
    return frozenset(text.split())


PROCESSORS: Names = words(
    "p np procs proc nprocs nproc numprocs num_procs n_procs processors nprocessors num_processors processor_count "
    "processes nprocesses num_processes ranks nranks num_ranks n_ranks mpi_ranks mpi_processes mpi_tasks tasks ntasks "
    "num_tasks n_tasks cores ncores num_cores n_cores core_count threads nthreads num_threads n_threads thread_count "
    "omp_threads omp_num_threads pes npes num_pes pe_count nodes nnodes num_nodes n_nodes workers nworkers num_workers "
    "cpus ncpus num_cpus n_cpus gpus ngpus num_gpus devices processor cpu core thread locations jobsize mpi_world_size "
    "thread_num proc_num core_num rank_num process_num task_num num_proc num_thread num_core num_rank num_process "
    "kerne prozesse prozessoren knoten rechenkerne coeurs processus hilos procesos nucleos processi nuclei "
    "executors nexecutors num_executors n_executors pods containers instances "
    "hosts nhosts numhosts num_hosts alloccpus alloc_cpus allocnodes alloc_nodes reqcpus req_cpus"
)
# `Number of MPI ranks` ends with what is counted; the words before it are all from these
_COUNTED: Names = words(
    "processors processes procs ranks tasks cores threads pes nodes workers executors "
    "cpus gpus mpi omp openmp kerne prozesse "
    "prozessoren knoten coeurs processus hilos nucleos procesos"
)
_COUNTING: Names = words(
    "num number no nr nb n of the total count max mpi omp openmp cpu gpu compute physical used worker anzahl nombre "
    "numero de"
)
REPETITIONS: Names = words(
    "rep reps repetition repetitions repeat run runs run_id runid run_no run_number trial trials sample "
    "samples attempt replicate replica measurement_id seed iteration_id repetition_number repetition_index rep_index r"
)
TIMES: Names = words(
    "time times t runtime run_time elapsed elapsed_time wall wall_time walltime wallclock wall_clock wallclock_time "
    "duration real real_time exec_time exectime execution_time total_time tot_time t_para tpara t_p tp "
    "time_to_solution seconds secs zeit laufzeit temps tiempo tempo mean_time avg_time min_time median_time "
    "max_time t_total user sys system user_time sys_time system_time cpu_time"
)
SIZES: Names = words(
    "size sizes problem_size problemsize problem n m k nx ny nz dim dims dimension grid gridsize grid_size elements "
    "nelements cells ncells particles atoms length len w work input_size mesh points npoints rows cols columns steps "
    "nsteps iterations iters niter scale matrix_size width height depth order level refinement"
)
_SPENT: Names = words(  # t_wall_with_comm
    "wall total tot comp compute comm solve solver par parallel seq serial exec run loop kernel cpu gpu elapsed real "
    "avg mean min max median main setup init io step iter all best"
)
PARTS: Names = words("latency comm communication io wait waiting overhead std stddev sd idle sync setup init startup")
SPREADS: Names = words("std stddev sd stdev stderr var variance deviation ci")
REGIONS: Names = words(
    "region regions function callpath call_path callsite routine kernel section phase timer code_region path "
    "region_name function_name name"
)
METRIC_NAMES: Names = words("metric counter event variable quantity measure metric_name")
VALUES: Names = words("value val values measurement result reading")
UNITS: Names = words("unit units")
VERSIONS: Names = words("version ver release tag revision rev")
# Remarks on a row for people, which are not coordinates of a measurement.
HOSTS: Names = words("host hostname host_name")
REMARKS: Names = words(
    "date datetime timestamp time_stamp comment comments note notes remark remarks annotation bemerkung bemerkungen "
    "kommentar kommentare anmerkung anmerkungen hinweis notiz commentaire commentaires remarque remarques observation "
    "observations comentario comentarios observaciones nota notas osservazioni host hostname user jobid job_id job "
    "command cmd unnamed_0 "
    "file filename log logfile commit git_hash hash uuid id index row_name start end started finished "
    "start_time end_time submit_time begin_time finish_time time_start time_end clock submit eligible "
    "exitcode exit_code derivedexitcode derived_exit_code exit_status jobidraw account user_name qos"
)
_COUNTS: Names = words(
    "flops flop fp_ops ops operations work_ops work_flops ins instructions tot_ins cycles tot_cyc visits calls misses "
    "references invalidations cache_misses l1_misses l2_misses l3_misses messages branches loads stores"
)
_BYTES: Names = words("bytes memory mem rss max_rss maxrss memory_bytes footprint bytes_sent bytes_received")
_RATIOS: Names = words(
    "speedup efficiency ipc miss_rate utilisation utilization parallel_efficiency load_balance scalability"
)
_OTHERS: Names = words(
    "energy power bandwidth throughput gflops mflops gflop_s joules watts rate performance mean "
    "median min max stddev std sd stdev average avg minimum maximum"
)
_NUMBERS = re.compile(r"(\d+)")
_PREFIXED = re.compile(r"^\s*param(eter)?[._](?=\w)", re.IGNORECASE)
_BRACKETED = re.compile(r"^(.*?)\s*[\[({<]\s*([^\[\](){}<>]+?)\s*[\])}>]\s*$")
_EACH_STEP = re.compile(  # `ms/step`
    r"^([A-Za-z\u00b5\u03bc]+)\s*(?:/|\bper\b)\s*"
    r"(steps?|time[ _]?steps?|iter(?:ation)?s?|it|calls?|epochs?|frames?|cycles?)$",
    re.IGNORECASE,
)
_IN = re.compile(r"^(.*?)\s+in\s+(\S+)$", re.IGNORECASE)
_SUFFIXED = re.compile(r"^(.*?)[_/]([A-Za-z\u00b5\u03bc]+)$")
_OVER_UNIT = re.compile(r"^(.*?\S)\s+/\s+([A-Za-z\u00b5\u03bc]+)$")  # `t / ms`, a quantity over its unit


_PER_SECOND = re.compile(r"(?:/|\bper )\s*(?:s|sec|seconds?)$|^1/s$|\bs\^?-1$", re.IGNORECASE)
_PER_TIME = re.compile(r"(?:^|_)(?:per|rate|throughput|bandwidth|[kmgt]?flops?|[kmgt]i?b|bytes|\w*cells)(?:_|$)")


@lru_cache(maxsize=1024)
def plain(name: str) -> str:
    """Return *name* normalised for comparison: lower case, words joined by ``_``, without a leading ``param.``."""
    name = _PREFIXED.sub("", name)
    words = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_", name.strip())
    return re.sub(r"[^0-9a-z\u00c0-\uffff]+", "_", words.lower()).strip("_")


_OF_DEVICES = frozenset({"block", "blocks", "cta", "grid", "team", "warp", "wavefront", "workgroup", "work_group"})


_OF_LOOPS = frozenset(
    {"batch", "block", "blocks", "chunk", "chunks", "iter", "iteration", "order", "step", "tile", "unroll"}
)


def is_of_device_or_loop(name: str) -> bool:
    """Whether *name* belongs to a device or loop, whose number affects times, too: ``Threads per Block``."""
    return bool((_OF_DEVICES | _OF_LOOPS) & set(plain(name).split("_")))


def is_of_device(name: str) -> bool:
    """Whether *name* belongs to a device that runs blocks of threads: ``blocks``, ``grid dim``."""
    return bool(_OF_DEVICES & set(plain(name).split("_")))


@lru_cache(maxsize=1024)
def counts_processors(name: str) -> bool:
    """Whether *name* means a number of processors: ``np``, ``Num MPI ranks``, ``cpus_per_task``."""
    short = plain(name)
    if short in PROCESSORS:
        return True
    whole, _, per = short.partition("_per_")
    if per in _OF_DEVICES:
        return False
    words = whole.split("_")
    return len(words) < 5 and words[-1] in _COUNTED and all(word in _COUNTING for word in words[:-1])


def counts_nodes(name: str) -> bool:
    """Whether *name* means a number of nodes, each with several processors."""
    return counts_processors(name) and "node" in (short := plain(name)).replace("host", "node") and "_per_" not in short


def without_unit(title: str) -> tuple[str, str]:
    """Split a title such as ``time [ms]``, ``time (s)``, ``wall_s`` or ``t in us`` into name and unit."""
    if (match := _BRACKETED.match(title)) and match[1]:
        return (f"{match[1]} {match[2]}", "") if match[2].isdecimal() else (match[1], match[2])  # `t(1000)`: no unit
    if (match := _IN.match(title)) and match[2].lower() in SECONDS:
        return match[1], match[2]
    if (match := _EACH_STEP.match(title.strip())) and match[1].lower() in SECONDS:
        return f"time/{match[2]}", match[1]
    if (match := _OVER_UNIT.match(title)) and match[2].lower() in SECONDS and is_time(match[1]):
        return match[1], match[2]
    if (match := _SUFFIXED.match(title)) and match[2].lower() in SECONDS.keys() - {
        "min",
        "h",
        "d",
        "day",
        "days",
        "ks",
    }:
        # `time_min` is the minimum time, not a time in minutes, and `cells/s` is not a time
        rate = ("/" in title and not is_time(match[1])) or _PER_TIME.search(plain(match[1]))
        return (title.strip(), "") if rate else (match[1], match[2])
    if plain(title) in ("seconds", "secs", "milliseconds", "microseconds", "nanoseconds", "minutes", "hours"):
        return "time", title.strip()
    return title.strip(), ""


def is_time(name: str) -> bool:
    """Whether *name* (without its unit) means an elapsed time or another time."""
    short = plain(name)
    if name.lstrip().startswith("1/"):
        return False
    if short in TIMES or short.endswith(("_time", "time")) or short.startswith("time_"):
        return True
    words = short.split("_")
    if words[0] == "t" and len(words) > 1 and words[1] in _SPENT:
        return True
    return "time" in words and not {"step", "steps", "per"} & set(words)  # `cpu time used`


@lru_cache(maxsize=1024)
def metric_kind(name: str, unit: str = "") -> MetricKind:
    """Return the kind of a metric with this name."""
    short = plain(name)
    if _PER_SECOND.search(unit):  # `grind time (zones/s)`
        return "other"
    if unit == "%":  # `time reduction [%]`
        return "ratio"
    if unit.lower() in SECONDS or is_time(name):
        return "time"
    if short in _COUNTS or short.startswith("papi_") or short.endswith(("_misses", "_count", "_visits")):
        return "count"
    if short in _BYTES or unit.lower() in ("b", "byte", "bytes"):
        return "bytes"
    return "ratio" if short in _RATIOS or unit == "%" else "other"


def is_metric(name: str, unit: str = "") -> bool:
    """Whether *name* is a usual name for something measured."""
    return metric_kind(name, unit) != "other" or plain(name) in _OTHERS or bool(unit)


def without_counts(texts: Sequence[str], counts: Sequence[str]) -> list[str]:
    """Return *texts* with ``#`` for the number that equals each one's of *counts*, at the same place in all.

    Empty if there is no such place: ``heat_p4`` and ``heat_p16`` with 4 and 16 become ``heat_p#``.
    """
    parts = [_NUMBERS.split(text) for text in texts]  # words and numbers alternating
    if len({len(part) for part in parts}) != 1:
        return []
    for place in range(1, len(parts[0]), 2):
        if all(part[place].lstrip("0") == count for part, count in zip(parts, counts, strict=True)):
            return ["".join([*part[:place], "#", *part[place + 1 :]]) for part in parts]
    return []
