"""Families: views of the same data, of which the user chooses one with "show as".

A family is listed once, under the name and group of its first view. Every view keeps its own name, by which files,
scripts and the command palette find it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scalegraph.subjects.option import Option

SHOW_AS: Final = "show_as"  # name of the option
_MEANING: Final = "how to show this data"


@dataclass(frozen=True)
class Family:
    """*shown_as*: the choices of "show as", and the view that each shows; the first is the default.

    The views have the *group* and *order* of the family in menus and lists.
    """

    title: str
    group: str
    order: int
    description: str
    shown_as: Mapping[str, str]

    @property
    def name(self) -> str:
        """The name of the first view, which stands for the family."""
        return next(iter(self.shown_as.values()))

    def choice_of(self, view: str) -> str:
        """Return the choice of "show as" that shows the view called *view*."""
        return next(choice for choice, name in self.shown_as.items() if name == view)

    def option(self, view: str) -> Option:
        """Return the option "show as" of the view called *view*; its default is that view."""
        return Option(SHOW_AS, "Show as", "choice", self.choice_of(view), tuple(self.shown_as), description=_MEANING)


FAMILIES: Final = (
    Family(
        "Points of all choices",
        "Choose",
        2,
        "All runs of all machines, splits and schedules, as a table, as curves, as a map of two choices, or as lines.",
        {
            "table": "points",
            "curves": "choice-curves",
            "best by two": "choice-map",
            "coordinates": "parallel",
        },
    ),
    Family(
        "Scalability matrix",
        "Scalability",
        10,
        "How scalability falls from every N to every larger N': as a matrix, its rows as curves, or a surface;"
        " averaged over efficiencies; or with what the time bound overestimates.",
        {
            "matrix": "matrix",
            "rows": "matrix-row",
            "surface": "scalability-surface",
            "average": "average-scalability",
            "overestimation": "overestimation",
        },
    ),
    Family(
        "Time and speedup",
        "Scalability",
        30,
        "Execution time, speedup and efficiency, or energy and price, over the number of processors.",
        {"speedup": "speedup", "time": "time", "costs": "costs"},
    ),
    Family(
        "Scaled speedup",
        "Scalability",
        35,
        "Speedup of a problem that grows with the processors; and of fixed size, fixed time and bounded memory.",
        {"weak scaling": "weak-scaling", "speedups": "scaled-speedups"},
    ),
    Family(
        "Latency",
        "Scalability",
        40,
        "Average latency over the number of processors, as a whole or by its sources.",
        {"average": "latency", "sources": "latency-sources"},
    ),
    Family(
        "Hottest lines and regions",
        "Lost time",
        1,
        "Where the processors' time goes: the few lines to look at, all lines, or the regions of the program.",
        {"top lines": "hottest", "lines": "lines", "regions": "profile"},
    ),
    Family(
        "Call paths",
        "Lost time",
        46,
        "Where the processors' time goes by call path: as a flame graph, or as callers and callees of a function.",
        {"flame graph": "flame", "callers": "callers"},
    ),
    Family(
        "Lost time by cause",
        "Lost time",
        60,
        "What processors lose time to: patterns of overhead or categories of time over N, or each processor of a run.",
        {"patterns": "overheads", "categories": "breakdown", "processors": "processors"},
    ),
    Family(
        "Patterns over size",
        "Lost time",
        65,
        "How parallel and sequential parts grow with the problem.",
        {"parallelism": "parallelism", "sequential": "sequential"},
    ),
    Family(
        "Caches over processors",
        "Cache and memory",
        110,
        "How caches behave over the number of processors: remote accesses, hits and invalidations by cause, widths of"
        " invalidations, miss latencies with the times they predict, and data moved.",
        {
            "remote": "remote-causes",
            "hit rates": "hit-rates",
            "invalidations": "invalidations",
            "widths": "widths",
            "latencies": "miss-latency",
            "prediction": "miss-prediction",
            "data moved": "data-movement",
        },
    ),
    Family(
        "Misses of a run",
        "Cache and memory",
        135,
        "Where the misses of a run come from: by class, by variable, or by falsely shared cache line.",
        {"classes": "miss-classes", "variables": "variables", "false sharing": "false-sharing"},
    ),
    Family(
        "Schedules",
        "What would change it",
        120,
        "How loops run under each schedule: times, losses, single loops, parameters, and which schedule to take.",
        {
            "times": "schedules",
            "losses": "schedule-losses",
            "loops": "schedule-loops",
            "parameters": "schedule-parameters",
            "advice": "schedule-advice",
        },
    ),
    Family(
        "A loop under a schedule",
        "What would change it",
        126,
        "One execution of a loop: the chunks it hands out, the load of each processor, or the time of each iteration.",
        {"chunks": "chunk-history", "load": "loop-load", "iterations": "iteration-times"},
    ),
    Family(
        "What-if runs",
        "What would change it",
        110,
        "What a change would gain: of the machine, the program or its input, or of a line that is faster.",
        {"changes": "what-if", "speedups": "virtual-speedup"},
    ),
    Family(
        "Measured runs",
        "Compare",
        140,
        "Measured runs beside simulated ones: times, the causes that the model misses, and the noise of repetitions.",
        {"times": "simulated-measured", "missed": "model-misses", "noise": "noise"},
    ),
    Family(
        "Studies side by side",
        "Compare",
        200,
        "Two or more studies: their curves over N, or the difference of their scalability matrices.",
        {"curves": "compare", "matrices": "compare-matrix"},
    ),
    Family(
        "Unit speed",
        "Isospeed",
        200,
        "Unit speed over the execution time, or execution time over N at a fixed size and at a fixed speed.",
        {"over time": "isospeed-speed", "size and speed": "size-and-speed"},
    ),
    Family(
        "Contours over N and work",
        "Isospeed",
        210,
        "A map over processors and work: lines of equal unit speed or equal efficiency, or the problem ensemble.",
        {
            "unit speed": "isospeed-contour",
            "efficiency": "efficiency-contour",
            "ensemble": "problem-ensemble",
        },
    ),
    Family(
        "Laws of scaling",
        "Models",
        300,
        "Laws fitted to the runs: one with its prediction, all compared, or tested on hidden runs; and the serial"
        " fraction.",
        {"fit": "fit", "laws": "laws", "back-test": "back-test", "serial": "serial-fraction"},
    ),
    Family(
        "Models of regions",
        "Models",
        320,
        "Models of how the time of regions grows: of all regions as a table, or of one call path with its values.",
        {"table": "region-models", "one path": "region-model"},
    ),
    Family(
        "Predicted and run times",
        "Prediction",
        11,
        "Predictions from small runs beside runs: their times, or their errors.",
        {"times": "predicted", "errors": "prediction-errors"},
    ),
    Family(
        "Locations over time",
        "Timeline",
        10,
        "What every location does over time: with messages and waits as a spacetime diagram, or as a Gantt chart.",
        {"spacetime": "spacetime", "gantt": "gantt"},
    ),
    Family(
        "Time by region",
        "Where the time goes",
        60,
        "Where the time of the interval goes: a table of regions, their call tree, a flame graph, callers and"
        " callees, or how long single calls take.",
        {
            "table": "trace-profile",
            "call tree": "trace-call-tree",
            "flame graph": "trace-flame",
            "callers": "trace-callers",
            "durations": "durations",
        },
    ),
    Family(
        "Time by region, two traces",
        "Where the time goes",
        65,
        "How the time of regions differs between two traces: as a table, or as a flame graph.",
        {"table": "trace-compare-profile", "flame graph": "trace-flame-difference"},
    ),
    Family(
        "Messages",
        "Who with whom",
        80,
        "Messages and waits between locations: as a matrix of who with whom, or statistics by pair, size or tag.",
        {"matrix": "communication-matrix", "statistics": "messages"},
    ),
)
