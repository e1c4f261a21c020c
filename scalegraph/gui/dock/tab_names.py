"""Short view names for tabs, since five tabs share 370 pixels in a small window; the title has the full name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scalegraph.views.view import View

SHORT: Final = {
    "advise": "Next run",
    "average-scalability": "Average",
    "breakdown": "Breakdown",
    "callers": "Callers",
    "choice-curves": "Curves",
    "choice-map": "Best",
    "choose": "Choice",
    "compare": "Studies",
    "compare-matrix": "Matrices",
    "efficiency-contour": "Equal efficiency",
    "false-sharing": "Sharing",
    "fit": "Fit",
    "flame": "Flame",
    "flame-difference": "Flame difference",
    "generalized-speedup": "Generalized",
    "hit-rates": "Hit rates",
    "hot-spots": "Modules",
    "hottest": "Hot lines",
    "invalidations": "Invalidations",
    "isoefficiency": "Isoefficiency",
    "isospeed-contour": "Equal speed",
    "isospeed-speed": "Unit speed",
    "iteration-times": "Iterations",
    "latency-sources": "Latency parts",
    "lines": "Lines",
    "loop-load": "Load",
    "matrix": "Matrix",
    "matrix-row": "Rows",
    "message-costs": "Message costs",
    "messages": "Messages",
    "miss-classes": "Misses",
    "miss-latency": "Latency",
    "miss-prediction": "Miss prediction",
    "model-misses": "Missed",
    "monitoring": "Monitoring",
    "noise": "Noise",
    "overestimation": "Overestimate",
    "overheads": "Overheads",
    "parallel": "Parallel",
    "parallelism": "Parallelism",
    "physical-power": "Power scaling",
    "points": "Points",
    "pop": "POP",
    "predicted": "Predicted",
    "prediction-errors": "Errors",
    "problem-ensemble": "Ensemble",
    "processors": "Processors",
    "profile": "Profile",
    "region-model": "Model",
    "region-models": "Models",
    "remote-causes": "Remote",
    "scalability-surface": "Surface",
    "scaled-speedups": "Scaled speedup",
    "schedule-advice": "Advice",
    "schedule-loops": "Loops",
    "schedule-losses": "Losses",
    "schedule-parameters": "Parameters",
    "sequential": "Sequential",
    "serial-fraction": "Serial",
    "simulated-measured": "Measured",
    "size-and-speed": "Size and speed",
    "source": "Source",
    "speed": "Speed",
    "speedup": "Speedup",
    "task-summary": "Tasks",
    "time": "Time",
    "trace-call-tree": "Call tree",
    "trace-callers": "Callers",
    "trace-compare-profile": "Profiles",
    "trace-flame": "Flame",
    "trace-flame-difference": "Flame difference",
    "trace-overview": "Trace",
    "trace-profile": "Profile",
    "two-points": "Two points",
    "what-if": "Changes",
    "widths": "Widths",
}


def tab_name(view: View, number: int = 1) -> str:
    """Return the short name of *view* for its tab; from the second on with the *number* of its equals."""
    return numbered(SHORT.get(view.name, view.title), number)


def numbered(name: str, number: int) -> str:
    """Return *name*, from the second of that name on with its *number*."""
    return name if number < 2 else f"{name} {number}"


def least_name(view: View) -> str:
    """Return the name that a title has room for before "show as" is hidden; it is the same for the whole family."""
    return tab_name(view.members[0])
