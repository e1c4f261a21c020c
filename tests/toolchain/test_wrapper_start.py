"""A build starts a compiler for each of its sources: it loads no models of runs, and no reader of debug information."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scalegraph.toolchain import assembler

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

COMPILES = """
import json, sys
from scalegraph.toolchain.wrapper import main
code = main("c", ["-O2", "-c", "p.c", "-o", "p.o"])
print(json.dumps([code, sorted(name for name in sys.modules if "." not in name)]))
"""
ASSEMBLES = """
import sys
with open(sys.argv[1]) as file:
    exec(compile(file.read(), sys.argv[1], "exec"), {"__name__": "as"})
names = sorted(sys.modules)
import json
print(json.dumps([0, names]))
"""


def _loaded(arguments: list[str], where: Path) -> set[str]:
    done = subprocess.run([sys.executable, *arguments], cwd=where, capture_output=True, text=True, check=True)
    code, modules = json.loads(done.stdout)
    assert code == 0
    return set(modules)


def test_compiling_loads_neither_models_of_runs_nor_a_reader_of_debug_information(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text("int main(void) { for (int i = 0; i < 9; i++) main(); return 0; }\n")
    assert not _loaded(["-c", COMPILES], tmp_path) & {"pydantic", "elftools", "numpy"}


def test_the_assembler_loads_what_python_has_loaded_and_patterns(tmp_path: Path) -> None:
    loaded = _loaded(["-I", "-S", "-c", ASSEMBLES, str(Path(assembler.__file__))], tmp_path)
    assert not loaded & {"dataclasses", "pathlib", "subprocess", "tempfile", "typing"}
