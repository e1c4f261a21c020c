"""A build starts a compiler for each of its sources: it loads no models of runs, and no reader of debug information."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

COMPILES = """
import json, sys
from scalegraph.toolchain.wrapper import main
code = main("c", ["-O2", "-c", "p.c", "-o", "p.o"])
print(json.dumps([code, sorted(name for name in sys.modules if "." not in name)]))
"""


def _loaded(arguments: list[str], where: Path) -> set[str]:
    done = subprocess.run([sys.executable, *arguments], cwd=where, capture_output=True, text=True, check=True)
    code, modules = json.loads(done.stdout)
    assert code == 0
    return set(modules)


def test_compiling_loads_neither_models_of_runs_nor_a_reader_of_debug_information(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text("int main(void) { for (int i = 0; i < 9; i++) main(); return 0; }\n")
    assert not _loaded(["-c", COMPILES], tmp_path) & {"pydantic", "elftools", "numpy", "difflib"}
