"""A directory with the files used by examples of the Python API."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words)
{
    int n = count > 1 ? atoi(words[1]) : 100;
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += 1.0 / (i + 1);
    printf("%g\\n", sum);
    return 0;
}
"""
REQUEST = 'processors = [1, 2]\n[program]\nsources = ["prog.c"]\nargs = ["{n}"]\n[parameters]\nn = 200\n'


def times() -> str:
    """Return a scaling study as a table: seven sizes on 1 to 32 processors, three times each."""
    noise = np.random.default_rng(7)
    rows = ["p,n,time"]
    for n in (1000, 2000, 4000, 8000, 16000, 32000, 64000):
        for p in (1, 2, 4, 8, 16, 32):
            seconds = 1e-3 * n / p + 0.03 * np.log2(p)
            rows += [f"{p},{n},{seconds * (1 + 0.004 * noise.standard_normal()):.6f}" for _ in range(3)]
    return "\n".join(rows) + "\n"


@pytest.fixture
def place(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory, which is the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "times.csv").write_text(times())
    (tmp_path / "prog.c").write_text(PROGRAM)
    (tmp_path / "request.toml").write_text(REQUEST)
    (tmp_path / "sizes.toml").write_text(REQUEST.replace("n = 200", "n = [32, 48, 64]").replace("[1, 2]", "[1, 4]"))
    (tmp_path / "several.toml").write_text(REQUEST + '[space]\nmachine = ["ksr1", "epyc-7763"]\n')
    shutil.copy(root / "traces" / "pipeline.sgtrace", tmp_path / "run.sgtrace")
    return tmp_path
