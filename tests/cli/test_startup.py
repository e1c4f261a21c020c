"""What a short run need not wait for: heavy libraries that only other work uses."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.compiler

HEAVY = ("pandas", "pyarrow", "scipy", "matplotlib", "capstone", "tomlkit", "rich", "PySide6", "filelock")
SCRIPT = """
import sys
from scalegraph.cli.main import run
code = run(["simulate", "sum.c", "-p", "2", "--no-reference", "--json"])
print(code, sorted(set(sys.modules) & set(sys.argv[1:])), file=sys.stderr)
"""


def test_a_cached_run_without_reference_imports_no_heavy_library(tmp_path: Path) -> None:
    (tmp_path / "sum.c").write_text('#include <stdio.h>\nint main(void) { puts("done"); return 0; }\n')
    command = [sys.executable, "-c", SCRIPT, *HEAVY]
    first, second = (
        subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True) for _ in range(2)
    )
    assert first.stdout
    assert second.stderr.splitlines()[-1] == "0 []"
