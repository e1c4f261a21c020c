"""Warnings of successful runs that limit what their numbers mean."""

from __future__ import annotations

from collections.abc import Iterable

from scalegraph.base.run import RunRecord


def remarks(runs: Iterable[RunRecord]) -> list[str]:
    """Return the warnings of the successful *runs*, each once, with the processor counts of the runs that have it.

    Shape: one entry for each warning. Source: ScaleGraph.
    """
    found: dict[str, list[int]] = {}
    for run in runs:
        for text in run.warnings if run.ok else ():
            found.setdefault(text, []).append(run.point.processors)
    return [f"N = {', '.join(map(str, sorted(set(counts))))}: {text}" for text, counts in found.items()]
