"""Short view names for tabs, since five tabs share 370 pixels in a small window; the title has the full name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scalegraph.views.view import View

SHORT: Final = {
    "advise": "Next run",
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
    "hit-rates": "Hit rates",
    "hot-spots": "Modules",
    "hottest": "Hot lines",
    "invalidations": "Invalidations",
    "isoefficiency": "Isoefficiency",
    "isospeed-contour": "Equal speed",
    "isospeed-speed": "Unit speed",
    "latency-sources": "Latency",
    "lines": "Lines",
    "matrix": "Matrix",
    "matrix-row": "Rows",
    "messages": "Messages",
    "miss-classes": "Misses",
    "miss-latency": "Latency",
    "overheads": "Overheads",
    "parallel": "Parallel",
    "points": "Points",
    "pop": "POP",
    "processors": "Processors",
    "profile": "Profile",
    "region-models": "Models",
    "remote-causes": "Remote",
    "scalability-surface": "Surface",
    "serial-fraction": "Serial",
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
    "widths": "Widths",
}


def tab_name(view: View) -> str:
    """Return the short name of *view* for its tab."""
    return SHORT.get(view.name, view.title)
