"""The papers' programs verify their results, which equal the native ones on any number of processors."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from scalegraph.request import Session
from scalegraph.request.model import programs
from tests.kept import kept
from tests.papers.small_inputs import CHECKED, FLAGS, SMALL, source_of

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

OTHER_INPUTS = {
    "billiard-linked": ("30", "300", "1", "1.0", "0.1", "1.0", "0.5"),
    "apsp": ("21", "serial", "verify"),
    "closure": ("41", "clique", "verify"),
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place for the native programs."""
    return tmp_path_factory.mktemp("native")


def native(name: str, arguments: tuple[str, ...], directory: Path) -> str:
    """Return what the native program prints with two threads; it must find its result right."""
    compiler = shutil.which("gcc")
    assert compiler is not None
    binary = directory / name
    if not binary.exists():
        source, words = source_of(name), ["-O2", "-fopenmp", *FLAGS.get(name, ())]
        command = [compiler, *words, str(source), "-lm", "-o"]
        inputs = [source, *sorted(source.parent.rglob("*.h")), *words]
        kept(binary, inputs, lambda target: subprocess.run([*command, str(target)], check=True))
    environment = os.environ | {"OMP_NUM_THREADS": "2"}
    done = subprocess.run([binary, *arguments], capture_output=True, text=True, check=True, env=environment)
    return done.stdout


def compare(name: str, arguments: tuple[str, ...], machine: str, cache: Path) -> None:
    expected = native(name, arguments, cache)
    with Session(workers=1).simulate(
        [source_of(name)],
        machine=machine,
        processors=(1, 3, 16, 64),
        args=arguments,
        cflags=FLAGS.get(name, ()),
        ldflags=("-lm",),
    ) as study:
        runs = study.runs(output=True)
    assert {run.point.processors for run in runs} == {1, 3, 16, 64}
    for run in runs:
        assert (run.status, run.exit_code, run.stdout) == ("ok", 0, expected), run.point.processors


@pytest.mark.parametrize("name", CHECKED)
def test_simulated_result_is_the_native_one_and_right(name: str, cache: Path) -> None:
    compare(name, CHECKED[name], "ksr1", cache)


@pytest.mark.parametrize("name", OTHER_INPUTS)
def test_other_inputs_and_another_machine_give_the_native_result(name: str, cache: Path) -> None:
    compare(name, OTHER_INPUTS[name], "cerberus", cache)


def test_every_program_of_the_papers_is_checked() -> None:
    papers = [found for found in programs.available() if found.path.parent == programs.directory()]  # others: tests/mpi
    described = {Path(source).stem for found in papers for source in found.program.sources}
    assert described == {source_of(name).stem for name in SMALL}
