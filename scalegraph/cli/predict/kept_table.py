"""The predictions saved in a study, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scalegraph.base.measures import measure, percent
from scalegraph.base.units import assigned, significant
from scalegraph.cli.output import echo, print_rows
from scalegraph.predict import measures
from scalegraph.predict.kept import KeptPoint

_HEADERS = ("E", "error", "ratio", "host ratio")


def print_kept(points: Sequence[KeptPoint]) -> None:
    """Print *points* as a table, and why some have no time; nothing if there are none."""
    if not points:
        return
    times = measure((point.time_s for point in points if point.time_s is not None), "s")
    headers = ("N", "parameters", times.heading("T"), times.heading("from"), times.heading("to"), *_HEADERS)
    rows = []
    for point in points:
        known = [point.time_s, point.low_s, point.high_s]
        error, ratio, efficiency = _error(point), _ratio(point), _efficiency(point)
        rows.append(
            [
                str(point.processors),
                assigned(sorted(point.parameters.items())),
                *("–" if value is None else times.number(value) for value in known),
                "–" if efficiency is None else significant(efficiency),
                "–" if error is None else percent(error),
                "–" if ratio is None else significant(ratio),
                "–" if (host := _host_ratio(point)) is None else significant(host),
            ]
        )
    print_rows(headers, rows, title="predicted", left=(1,))
    for point in points:
        if point.refused:
            where = assigned([("N", point.processors), *sorted(point.parameters.items())])
            echo(f"{where}: not predicted: {point.refused}")
    echo()


def documents(points: Sequence[KeptPoint]) -> list[dict[str, Any]]:
    """Return *points* as JSON; null for unknown values."""
    return [
        point.model_dump(mode="json", exclude={"parts"})
        | {
            "efficiency": _efficiency(point),
            "error": _error(point),
            "prediction_ratio": _ratio(point),
            "prediction_ratio_host": _host_ratio(point),
            "parts": [{"name": name, "time_s": time} for name, time in point.parts],
        }
        for point in points
    ]


def _error(point: KeptPoint) -> float | None:
    return measures.error(point.actual_s, point.time_s) if point.actual_s and point.time_s is not None else None


def _ratio(point: KeptPoint) -> float | None:
    return measures.known_ratio(point.actual_s or point.time_s, point.samples_s, point.estimate_s)


def _host_ratio(point: KeptPoint) -> float | None:
    return measures.known_ratio(point.actual_host_s, point.samples_host_s, point.estimate_s)


def _efficiency(point: KeptPoint) -> float | None:
    return point.one_s / (point.processors * point.time_s) if point.one_s and point.time_s else None
