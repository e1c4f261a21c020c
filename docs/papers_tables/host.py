"""A calibrated host: predicted and measured times of shipped programs; they depend on the computer that measures."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from papers_tables.studies import Studies, markdown
from scalegraph.base.units import si


def table(_studies: Studies) -> list[str]:
    """Return the rows of ``scalegraph machines calibrate --compare`` on this computer, and their summary."""
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
    head = ["program", "threads", "-O2", "scalar", "spread", "predicted", "error", "error to -O2"]
    total = found["summary"]
    sentence = f"predicted / measured: {total['ratio']:.2f}; mean error a factor of {total['size']:.2f}"
    worst = f"the worst a factor of {total['worst']:.2f} ({total['worst_program']})"
    return [*markdown(head, rows), "", f"Over all rows {sentence}, {worst}."]


def _row(row: dict[str, Any]) -> list[str]:
    times = [si(row[name], "s") for name in ("optimised_s", "scalar_s")]
    spread = f"{100 * row['spread']:.0f} %"
    errors = [f"{100 * row[name]:+.0f} %" for name in ("error", "error_optimised")]
    return [row["program"], str(row["threads"]), *times, spread, si(row["predicted_s"], "s"), *errors]
