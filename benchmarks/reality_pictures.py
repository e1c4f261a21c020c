"""Pictures of the results of benchmarks/reality.py: measured points with the simulated curves."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

Results = Mapping[str, Mapping[str, Any]]
_SERIES = ("load", "copy", "update", "triad", "daxpy")
_WIDE = 3.4  # width of a panel in inches
_TITLE = 52  # characters per line of a panel's title
_DPI = 110


def draw(results: Results, directory: Path) -> Iterator[Path]:
    """Draw one picture for each kind of table into *directory*; yield their paths."""
    for kind, panel in {"bandwidth": _bandwidth, "program": _program}.items():
        found = {name: one for name, one in results.items() if one["kind"] == kind and len(one["points"]) > 1}
        if found:
            yield _grid(found, panel, directory / f"reality-{kind}.png")
    levels = {
        name: result for name, result in results.items() if result["kind"] in ("latency", "core_to_core", "barrier")
    }
    if any(result["points"] for result in levels.values()):
        yield _latencies(levels, directory / "reality-latency.png")


def _grid(results: Results, panel: Any, path: Path) -> Path:
    columns = min(3, len(results))
    rows = math.ceil(len(results) / columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(_WIDE * columns, 2.9 * rows), squeeze=False, layout="constrained"
    )
    for here, result in zip(axes.flat, results.values(), strict=False):
        panel(here, result)
        here.set_title(textwrap.fill(result["title"], _TITLE), fontsize=8)
        here.tick_params(labelsize=7)
        here.grid(visible=True, linewidth=0.4, alpha=0.5)
    for here in list(axes.flat)[len(results) :]:
        here.set_visible(False)
    return _save(figure, path)


def _curves(here: Axes, result: Mapping[str, Any], chosen: Mapping[str, str]) -> None:
    """Draw the series of *chosen* (name to label): measured values as circles, simulated ones as lines."""
    for number, (series, label) in enumerate(chosen.items()):
        points = [point for point in result["points"] if point["series"] == series]
        n = [int(point["at"]) for point in points]
        colour = f"C{number}"
        here.plot(n, [point["measured"] for point in points], "o", color=colour, markersize=3.5, fillstyle="none")
        here.plot(n, [point["simulated"] for point in points], "-", color=colour, linewidth=1.2, label=label)
    here.set_ylim(bottom=0)
    here.legend(fontsize=6, title="circles: measured, lines: simulated", title_fontsize=6)


def _bandwidth(here: Axes, result: Mapping[str, Any]) -> None:
    there = {point["series"] for point in result["points"]}
    _curves(here, result, {f"memory {name}": name for name in _SERIES if f"memory {name}" in there})
    here.set_xlabel("cores", fontsize=7)
    here.set_ylabel("GB/s from memory", fontsize=7)


def _program(here: Axes, result: Mapping[str, Any]) -> None:
    first = min((int(point["at"]) for point in result["points"]), default=1)
    one = {"series": "speedup", "at": str(first), "measured": 1.0, "simulated": 1.0}
    _curves(here, {"points": [one, *result["points"]]}, {"speedup": "speedup"})
    here.set_xlabel("processors", fontsize=7)
    here.set_ylabel("speedup", fontsize=7)


def _latencies(results: Results, path: Path) -> Path:
    """Draw each latency as a dot: simulated over measured, on logarithmic axes."""
    figure, here = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
    units = {"ns": 1.0, "us": 1000.0}
    ends: list[float] = []
    for number, kind in enumerate(("latency", "core_to_core", "barrier")):
        points = [point for result in results.values() if result["kind"] == kind for point in result["points"]]
        if not points:
            continue
        measured = [point["measured"] * units[point["unit"]] for point in points]
        simulated = [point["simulated"] * units[point["unit"]] for point in points]
        ends += measured + simulated
        label = {"latency": "cache levels and memory", "core_to_core": "core to core", "barrier": "barrier"}[kind]
        here.plot(measured, simulated, "os^"[number], color=f"C{number}", markersize=5, fillstyle="none", label=label)
    low, high = min(ends) / 1.5, max(ends) * 1.5
    here.plot([low, high], [low, high], "-", color="0.4", linewidth=0.8)
    here.fill_between(
        [low, high], [low / 1.15, high / 1.15], [low * 1.15, high * 1.15], color="0.85", label="within 15 %"
    )
    here.set(
        xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), xlabel="measured, ns", ylabel="simulated, ns"
    )
    here.legend(fontsize=8)
    here.grid(visible=True, linewidth=0.4, alpha=0.5)
    return _save(figure, path)


def _save(figure: Any, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=_DPI, metadata={"Software": None})
    plt.close(figure)
    return path
