"""A calibrated host: predicted and measured times of shipped programs, which depend on this computer."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from papers_tables.studies import Studies, markdown
from scalegraph.base.units import si


def table(_studies: Studies) -> list[str]:
    """Return the rows of ``scalegraph machines calibrate --compare`` on this computer, and a summary."""
    command = [
        sys.executable,
        "-m",
        "scalegraph.cli.main",
        "machines",
        "calibrate",
        "--compare",
        "--threads",
        "1",
        "--json",
    ]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout)
    rows = [_row(row) for row in found["rows"] if not row["failure"]]
    head = ["program", "threads", "native", "spread", "predicted", "error", "scalar", "predicted", "error"]
    total = found["summary"]
    sentence = (
        f"predicted / measured: {total['ratio_optimised']:.2f}; mean error a factor of {total['size_optimised']:.2f}"
    )
    worst = f"the worst a factor of {total['worst_optimised']:.2f} ({total['worst_program_optimised']})"
    return [*markdown(head, rows), "", f"Over all rows {sentence}, {worst}."]


def _row(row: dict[str, Any]) -> list[str]:
    own, scalar = (
        [si(row[f"{name}_s"], "s"), si(row[f"{predicted}_s"], "s"), f"{100 * row[error]:+.0f} %"]
        for name, predicted, error in (
            ("optimised", "predicted_optimised", "error_optimised"),
            ("scalar", "predicted", "error"),
        )
    )
    return [row["program"], str(row["threads"]), own[0], f"{100 * row['spread_optimised']:.0f} %", *own[1:], *scalar]
