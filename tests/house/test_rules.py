"""The rules of the house, as tests, so that one command runs all."""

import importlib.util
import io
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from scalegraph.base.host import INSTALL_QT
from scalegraph.runtime import format_source, machine_source
from tests.conftest import kept_cache

pytestmark = pytest.mark.slow


def run(root: Path, *command: str) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def needs(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed: pip install -e '.[dev]'")


def test_code_passes_the_linter(root: Path) -> None:
    needs("ruff")
    run(root, "ruff", "check", "--no-cache", ".")


def test_code_is_formatted(root: Path) -> None:
    needs("ruff")
    run(root, "ruff", "format", "--no-cache", "--check", ".")


@pytest.mark.slow(60)
def test_types_hold(root: Path) -> None:
    needs("mypy")
    run(root, "mypy", "--cache-dir", str(kept_cache() / "mypy"))


def test_packages_import_only_from_lower_floors(root: Path) -> None:
    needs("importlinter")
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_c_code_is_formatted(root: Path) -> None:
    binary = Path(sys.executable).with_name("clang-format")
    if not binary.exists():
        pytest.skip("clang-format is not installed: pip install -e '.[dev]'")
    files = [*root.glob("scalegraph/runtime/csrc/**/*.[ch]"), *root.glob("resources/programs/*.[ch]")]
    files += root.glob("scalegraph/control/calibration/csrc/*.[ch]")
    files += root.glob("scalegraph/instrument/core/*.[ch]")
    files += root.glob("scalegraph/runtime/monitor/*.[ch]")
    files += root.glob("scalegraph/runtime/native/*.[ch]")
    files += root.glob("scalegraph/toolchain/csrc/*.[ch]")
    files = [file for file in files if file.name not in ("sg_format.h", "sg_machine.h")]
    command = [str(binary), "--dry-run", "--Werror", *map(str, files)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_c_header_and_python_agree_on_the_format(root: Path) -> None:
    written = io.StringIO()
    format_source.write_header(written)
    committed = (root / "scalegraph/runtime/csrc/ground/sg_format.h").read_text()
    assert committed == written.getvalue(), (
        "run: python -m scalegraph.runtime.format_source > scalegraph/runtime/csrc/ground/sg_format.h"
    )


def test_c_header_and_machine_model_agree(root: Path) -> None:
    written = io.StringIO()
    machine_source.write_header(written)
    committed = (root / "scalegraph/runtime/csrc/ground/sg_machine.h").read_text()
    assert committed == written.getvalue(), (
        "run: python -m scalegraph.runtime.machine_source > scalegraph/runtime/csrc/ground/sg_machine.h"
    )


def test_the_readme_names_the_packages_that_every_sentence_names(root: Path) -> None:
    assert f"    {INSTALL_QT}\n" in (root / "README.md").read_text()


@pytest.mark.compiler
def test_every_test_that_a_promise_of_security_names_is_there(root: Path) -> None:
    named = set(re.findall(r"`(?:tests/[\w/]+/)?(test_\w+)", (root / "docs" / "SECURITY.md").read_text()))
    files = list((root / "tests").glob("*/test_*.py"))
    there = {path.stem for path in files}
    there |= {name for path in files for name in re.findall(r"def (test_\w+)", path.read_text())}
    assert len(named) > 40
    assert named - there == set()


def test_shipped_programs_compile_without_warnings(root: Path, tmp_path: Path) -> None:
    compiler = shutil.which("gcc")
    assert compiler is not None
    programs = sorted(root.glob("resources/programs/*.c"))
    assert programs
    for program in programs:
        flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-fopenmp", str(program), "-o", str(tmp_path / "a.out"), "-lm"]
        done = subprocess.run([compiler, *flags], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_no_folder_holds_more_than_forty_five_sources(root: Path) -> None:
    roots = [root / name for name in ("scalegraph", "tests", "benchmarks", "resources")]
    sources = [path for top in roots for path in top.rglob("*") if path.suffix in (".py", ".c", ".h", ".cpp", ".f90")]
    sizes = Counter(path.parent.relative_to(root) for path in sources)
    assert {str(folder): size for folder, size in sizes.items() if size > 45} == {}
