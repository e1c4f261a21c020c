"""Ways on from a view: the actions that it offers as buttons, by the names the window knows."""

from __future__ import annotations

from typing import Final

from scalegraph.figures.way import Way
from scalegraph.subjects.study import StudyData

ADD_SIZES: Final = Way(
    "add-sizes",
    "Add sizes to get a scalability matrix",
    "Plans runs of more problem sizes at a constant efficiency; nothing runs before you press Run",
)

OPEN_STUDY: Final = Way(
    "open",
    "Open a second study…",
    "Opens a study or measurements to compare with this study",
    "On the command line: scalegraph compare with two or more studies.",
)
OPEN_TRACE: Final = Way(
    "open",
    "Open a second trace…",
    "Opens a trace, of other processors or of another size, to compare with this trace",
    "On the command line: scalegraph export with two or more traces.",
    (("what", "trace"),),
)
FIND_SOURCES: Final = Way(
    "sources",
    "Choose the folder of the sources…",
    "Searches a folder and its subfolders for the source files named in this trace; views then show them",
    "Put the file beside the trace.",
)
MEASURE_SIZES: Final = Way(
    "measure-sizes",
    "What to measure for a scalability matrix",
    "Says which runs of your own program are missing",
)

_AGAIN: Final = "Repeats the runs of this study; existing results are kept"
COLLECT_CLASSES: Final = Way(
    "collect",
    "Collect miss classes and run again",
    _AGAIN,
    "On the command line: scalegraph simulate --collect classes, or classes = true under [collect] in the request.",
    (("what", "classes"),),
)
COLLECT_LINES: Final = Way(
    "collect",
    "Collect lines and run again",
    _AGAIN,
    "In a request file: lines = true under [collect].",
    (("what", "lines"),),
)
COLLECT_REGIONS: Final = Way(
    "collect",
    "Collect regions",
    "Shows the request with regions; the instrumented program gets a study of its own",
    "In a request file: regions = true under [collect].",
    (("what", "regions"),),
)
MONITOR: Final = Way(
    "collect",
    "Monitor by software",
    "Shows the request with software monitoring, which takes simulated time; its runs get a study of their own",
    'On the command line: scalegraph simulate --monitor software, or monitor = "software" under [collect] in the'
    " request.",
    (("what", "monitor"), ("value", "software")),
)
MEASURE: Final = Way(
    "target",
    "Measure on this computer",
    "Shows the request with this computer as the target; nothing runs before you press Run",
    "On the command line: scalegraph measure, into the same study.",
    (("target", "host"),),
)
COMPARE_SCHEDULES: Final = Way(
    "collect",
    "Compare schedules",
    "Shows the request with all schedules of loops; nothing runs before you press Run",
    'On the command line: scalegraph schedules; in a request file: compare = "all" under [schedules].',
    (("what", "compare"), ("value", "all")),
)
SWEEP_ALPHA: Final = Way(
    "collect",
    "Compare values of alpha",
    "Shows the request with four values of alpha for EA and CA; nothing runs before you press Run",
    "On the command line: scalegraph schedules --schedules 'EA,alpha=4;EA,alpha=32;EA,alpha=N/P'.",
    (
        ("what", "compare"),
        ("value", "; ".join(f"{name},alpha={alpha}" for name in ("EA", "CA") for alpha in ("4", "32", "N/P", "N/P^2"))),
    ),
)
WHAT_IF: Final = Way(
    "what-if",
    "Open the What if panel",
    "Choose an ideal, a parameter of the machine, or a faster line",
    "On the command line: scalegraph simulate --what-if contention,cache,sync,balance,all.",
)
FREE_SYNC: Final = Way(
    "what-if",
    "Run with free synchronisation",
    "Chooses free synchronisation in the What if panel",
    "On the command line: scalegraph simulate --what-if sync.",
    (("ideal", "sync"),),
)
FREE_MESSAGES: Final = Way(
    "what-if",
    "Run with messages that take no time",
    "Chooses messages that take no time in the What if panel",
    "On the command line: scalegraph simulate --ideal-network.",
    (("ideal", "messages"),),
)
FREE_MESSAGES_AND_SYNC: Final = Way(
    "what-if",
    "Run with free messages and synchronisation",
    "Chooses messages that take no time, and free synchronisation, in the What if panel",
    "On the command line: scalegraph simulate --ideal-network.",
    (("ideal", "messages+sync"),),
)
FASTER_LINES: Final = Way(
    "what-if",
    "Run with faster lines",
    "Chooses the hottest lines in the What if panel",
    "In a request file: lines = 5 under [speedups].",
    (("sweep", "lines"),),
)
ADD_ONE: Final = Way(
    "add-counts",
    "Add N = 1",
    "Shows the request of this study with a run on one processor; nothing runs before you press Run",
    "On the command line: scalegraph simulate --processors with N = 1 among them.",
    (("processors", "1"),),
)
ADD_COUNTS: Final = Way(
    "add-counts",
    "Add processor counts",
    "Shows the request of this study with 1, 2, 4 and 8 processors; nothing runs before you press Run",
    "On the command line: scalegraph simulate --processors with more counts.",
    (("processors", "1,2,4,8"),),
)
PREDICT: Final = Way(
    "predict",
    "Predict larger runs",
    "Shows the request with small runs as samples, and larger sizes to predict; nothing runs before you press Run",
    "On the command line: scalegraph predict; in a request file: at = { n = 800 } under [predict].",
)
START: Final = Way("start", "Show the request", "Shows the request of this study, ready to be run")


def add_sizes(*held: str) -> Way:
    """Return the button that plans runs of more sizes; *held* are the kinds of bounds kept constant."""
    words = " and the ".join(held)
    return Way(
        "add-sizes",
        f"Add sizes with the {words} held",
        f"Shows the request with a search for sizes that keep the {words} constant; nothing runs before you press Run",
        "In a request file: " + " and ".join(f'kind = "{kind}"' for kind in held) + " under [[bound]], with a value.",
        (("held", ",".join(held)),),
    )


def traced(kind: str) -> Way:
    """Return the button that plans traces of the same runs with *kind* (``regions``, ``waits``, ..)."""
    return Way(
        "trace",
        "Run with trace",
        f"Shows the request with a trace of {kind}; nothing runs before you press Run",
        f"On the command line: scalegraph simulate --trace={kind}.",
        (("what", kind),),
    )


def can_run(data: StudyData) -> bool:
    """Return whether ScaleGraph can run the program of *data* again: its request is known."""
    return bool((data.manifest.get("request") or {}).get("program")) and data.imported is None


def is_command(data: StudyData) -> bool:
    """Return whether the runs of *data* measured a command as it is."""
    return bool(((data.manifest.get("request") or {}).get("program") or {}).get("command"))


def of_one_size(data: StudyData) -> bool:
    """Return whether all runs of *data* have one problem size, so that there is no scalability matrix."""
    return not data.table.empty and int(data.scaling["problem"].nunique()) == 1


def asks_for_sizes(data: StudyData) -> bool:
    """Return whether the request of *data* searches other sizes, whose runs are still to come."""
    request = data.manifest.get("request") or {}
    kinds = {bound.get("kind", "problem_size") for bound in request.get("bound") or ()}
    return bool(kinds - {"problem_size"})


def to_sizes(data: StudyData) -> tuple[Way, ...]:
    """Return the button that plans runs of more sizes, if ScaleGraph can run the program of *data*."""
    return (ADD_SIZES,) if can_run(data) and not asks_for_sizes(data) else ()


def to_measurements(data: StudyData) -> tuple[Way, ...]:
    """Return the button that explains which other sizes to measure, if *data* is measurements of one size."""
    return (MEASURE_SIZES,) if data.imported is not None and of_one_size(data) else ()


def middling(data: StudyData, held: str) -> float | None:
    """Return the value of a bound of kind *held* at the middle processor count of the richest series.

    An efficiency, a time (s) or memory per processor (bytes); ``None`` if not known.
    """
    column = {"efficiency": "efficiency", "time": "time_s", "memory": "memory_bytes"}[held]
    series = data.main_series
    if series is None or column not in series.rows.columns:
        return None
    counts = series.rows["processors"] if held == "memory" else [1] * len(series.rows)
    values = [float(value) / n for value, n in zip(series.rows[column], counts, strict=True) if value == value]
    return values[len(values) // 2] if len(values) > 1 else None


def what_to_measure(data: StudyData) -> str:
    """Return which measurements a scalability matrix needs, using the processor counts in *data*."""
    counts = sorted({int(n) for n in data.table["processors"]} | {1}) if not data.table.empty else [1, 2, 4, 8]
    listed = ", ".join(map(str, counts[:-1]))
    return (
        f"For a scalability matrix, measure two or more problem sizes, each on {listed} and {counts[-1]} processors,"
        " with the size as a parameter, and import all of it together."
    )
