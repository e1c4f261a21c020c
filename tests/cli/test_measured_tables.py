"""Real-world tables on the command line: what was understood is reported, what cannot be guessed is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

TIMES = {2: 8.0, 4: 4.2, 8: 2.5, 16: 1.6}


def test_analyze_says_it_beside_the_numbers(call: Any, tmp_path: Path) -> None:
    table = tmp_path / "no1.csv"
    table.write_text("threads,time [s]\n" + "".join(f"{n},{time}\n" for n, time in TIMES.items()))
    code, out, err = call("analyze", table, "--what", "efficiency")
    assert code == 0
    assert "0.625" in out
    assert "note: There is no run on one processor" in err
    assert "N = 2" in json.loads(call("analyze", table, "--what", "speedup", "--json")[1])["notes"][0]
