"""Variables with a fixed address have their source names."""

import shutil
import subprocess
from pathlib import Path

import pytest

from scalegraph.instrument.variables import VariableMap

TEXT = """\
namespace app { int counts[4]; }
static int guard = 1;
extern "C" { int plain; }
int main() { static int inside = 3; return guard + plain + inside + app::counts[1]; }
"""


@pytest.mark.slow
@pytest.mark.compiler
def test_mangled_variables_are_found_by_their_names_in_the_source(tmp_path: Path) -> None:
    gxx = shutil.which("g++") or pytest.skip("needs g++")
    (tmp_path / "p.cpp").write_text(TEXT)
    subprocess.run([gxx, "-g", "-O0", "-o", tmp_path / "p", tmp_path / "p.cpp"], check=True)
    variables = VariableMap(tmp_path / "p")
    sizes = {
        name: [end - start for start, end in variables.named(name)] for name in ("counts", "guard", "plain", "inside")
    }
    assert sizes == {"counts": [16], "guard": [4], "plain": [4], "inside": [4]}
    assert variables.named("_ZL5guard") == variables.named("guard")
    assert variables.named("nothing") == []
    assert {"counts", "guard", "plain", "inside"} <= set(variables.all_names())
    assert not any(name.startswith("_ZL") for name in variables.all_names())
