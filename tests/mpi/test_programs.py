"""The shipped MPI programs: their descriptions load, and native runs on any number of ranks verify their results."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scalegraph import control
from scalegraph import machine as machines
from scalegraph.base.resources import resource_dir
from scalegraph.base.run import RunPoint
from scalegraph.link import Job, Simulated
from scalegraph.request.model import programs
from scalegraph.toolchain import mpi
from tests.mpi.native import MISSING, Native, find

pytestmark = pytest.mark.slow

FOLDER = resource_dir("programs") / "mpi"
RANKS = (1, 3)  # native runs: waiting ranks use processor time, a lot of it if there are more ranks than processors
SIMULATED_RANKS = (1, 2, 3, 8)
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")

# description -> arguments to try; small, as waiting ranks use the processor for some milliseconds in every step
INPUTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "allreduce": (("100", "5"), ("1", "3", "5"), ("4001", "2", "7")),
    "burg": (
        ("440", "10"),
        ("16", "10"),
        ("1003", "12", "block"),
        ("441", "10", "scattered"),
        ("440", "10", "block", "unchecked"),
    ),
    "burg-single": (("2880", "10"), ("2881", "10", "scattered")),
    "em": (("5", "6", "20", "21"), ("1", "1", "1", "1"), ("12", "3", "7", "30")),
    "ge-dp": (("20",), ("5",), ("1",)),
    "ge-mpi": (("20",), ("5",), ("1",)),
    "halo2d": (("33", "20"), ("33", "20", "overlap"), ("16", "3", "overlap")),
    "pingpong": (("1024", "3"), ("0", "2"), ("70000", "1", "1")),
    "slalom": (("30",), ("17",), ("6",), ("17", "unchecked")),
}
EXACT = {"allreduce", "ge-mpi", "pingpong"}  # operations always in the same order: identical output
ROUNDING = {"burg-single": 1e-3}  # allowed relative error by program; DOUBLE for the others
DOUBLE = 1e-9


@pytest.fixture(scope="session")
def native() -> Native:
    """The MPI of this computer."""
    found = find()
    if found is None:
        pytest.skip(MISSING)
    return found


@pytest.fixture(scope="session")
def binaries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The programs compiled so far by name; the key "" has the directory for more."""
    return {"": tmp_path_factory.mktemp("mpi")}


def made(name: str, native: Native, binaries: dict[str, Path]) -> Path:
    """Return the compiled program of the description *name*."""
    if name not in binaries:
        described = programs.load(str(FOLDER / f"{name}.toml"))
        (source,) = described.sources()
        binaries[name] = native.compiled(source, binaries[""] / name, *described.program.cflags)
    return binaries[name]


def alike(one: str, other: str, tolerance: float) -> bool:
    """Return whether two outputs are equal except for rounding of numbers."""
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=tolerance, abs_tol=tolerance * 1e-3) for a, b in pairs)


def test_every_description_has_inputs_here_and_every_source_a_description() -> None:
    described = {path.stem: programs.load(str(path)) for path in FOLDER.glob("*.toml")}
    assert set(described) == set(INPUTS)
    sources = {source.name for found in described.values() for source in found.sources()}
    assert sources == {path.name for path in FOLDER.glob("*.c")}


@pytest.mark.parametrize("name", INPUTS)
def test_a_description_fits_its_program(name: str) -> None:
    described = programs.load(str(FOLDER / f"{name}.toml"))
    text = "".join(source.read_text(encoding="utf-8") for source in described.sources())
    assert "#include" in text
    assert described.program.title
    assert described.program.request.processors
    arguments = programs.fill(described.program.args, described.program.parameters(), 4)
    assert all(arguments)
    if described.program.region:
        assert re.search(rf"^\w.*\b{described.program.region}\(", text, re.MULTILINE)


def test_sources_are_formatted() -> None:
    binary = Path(sys.executable).with_name("clang-format")
    if not binary.exists():
        pytest.skip("clang-format is not installed: pip install -e '.[dev]'")
    command = [str(binary), "--dry-run", "--Werror", *map(str, sorted(FOLDER.glob("*.[ch]")))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def same(name: str, one: str, other: str) -> bool:
    """Return whether two outputs of a program are as equal as its header says."""
    return one == other if name in EXACT else alike(one, other, ROUNDING.get(name, DOUBLE))


@pytest.mark.compiler
def test_sources_compile_without_warnings_with_our_header() -> None:
    compiler = shutil.which("gcc")
    assert compiler is not None
    for source in sorted(FOLDER.glob("*.c")):
        for flags in (("-O2",), ("-O2", "-DSINGLE")):
            command = [
                compiler,
                *flags,
                "-Wall",
                "-Wextra",
                "-Werror",
                f"-I{mpi.INCLUDE}",
                "-c",
                source,
                "-o",
                "/dev/null",
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr


@pytest.mark.compiler
@pytest.mark.parametrize("name", INPUTS)
def test_simulated_results_are_right_and_the_same_on_any_number_of_ranks(name: str) -> None:
    described = programs.load(str(FOLDER / f"{name}.toml"))
    program = described.program
    built = control.build(described.sources(), cflags=program.cflags, ldflags=program.ldflags)
    for arguments in INPUTS[name]:
        printed = []
        first = arguments == INPUTS[name][0]
        for machine, ranks in (
            *(("server-2x32-inorder", ranks) for ranks in (SIMULATED_RANKS if first else (1, 3))),
            *([(program.request.machine.reference, 4)] if first else ()),
        ):
            record = Simulated().run(Job(built, machines.load(machine), RunPoint(processors=ranks), arguments))
            assert (record.status, record.exit_code, record.stderr) == ("ok", 0, ""), (ranks, record.message)
            printed.append(record.stdout)
        assert all(same(name, output, printed[0]) for output in printed), (arguments, printed)


@pytest.mark.compiler
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("name", INPUTS)
def test_a_simulated_run_repeats_itself_adds_up_and_prints_what_a_native_run_prints(
    name: str, ranks: int, native: Native, binaries: dict[str, Path]
) -> None:
    described = programs.load(str(FOLDER / f"{name}.toml"))
    program, arguments = described.program, INPUTS[name][0]
    built = control.build(described.sources(), cflags=program.cflags, ldflags=program.ldflags)
    job = Job(built, machines.load(program.request.machine.reference), RunPoint(processors=ranks), arguments)
    once, again = Simulated().run(job), Simulated().run(job)
    assert (once.status, once.exit_code, once.stderr) == ("ok", 0, ""), once.message
    times = {"host_s", "host_cpu_s"}
    assert again.model_dump(exclude=times) == once.model_dump(exclude=times)
    assert once.time_cycles is not None
    assert sum(once.categories.values()) == ranks * once.time_cycles
    each = [sum(cycles) for cycles in zip(*once.processor_categories.values(), strict=True)]
    assert each == [once.time_cycles] * ranks
    regions = [sum(region.categories.values()) for region in once.regions]
    assert sum(regions) == ranks * once.time_cycles
    costs = once.messages
    assert costs is not None
    for category, cycles in costs.cycles.items():
        assert sum(cycles) == once.categories[category]
    done = native.run(made(name, native, binaries), ranks, *arguments)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert same(name, once.stdout, done.stdout), (once.stdout, done.stdout)


@pytest.mark.parametrize("name", INPUTS)
def test_results_are_right_and_the_same_on_any_number_of_ranks(
    name: str, native: Native, binaries: dict[str, Path]
) -> None:
    binary = made(name, native, binaries)
    for arguments in INPUTS[name]:
        expected = ""
        for ranks in RANKS:
            done = native.run(binary, ranks, *arguments)
            assert (done.returncode, done.stderr) == (0, ""), (arguments, ranks, done.stderr)
            expected = expected or done.stdout
            assert same(name, done.stdout, expected), (arguments, ranks, done.stdout, expected)


@pytest.mark.parametrize("name", INPUTS)
def test_the_default_input_is_right(name: str, native: Native, binaries: dict[str, Path]) -> None:
    described = programs.load(str(FOLDER / f"{name}.toml"))
    arguments = programs.fill(described.program.args, described.program.parameters(), 2)
    done = native.run(made(name, native, binaries), 2, *arguments)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout


@pytest.mark.parametrize("name", INPUTS)
def test_wrong_arguments_are_refused_with_the_usage(name: str, native: Native, binaries: dict[str, Path]) -> None:
    done = native.run(made(name, native, binaries), 2, "many")
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("program", "right", "wrong"),
    [
        ("burg", "&s->b[-1], 1, MPI_REAL_TYPE", "&(real){0}, 1, MPI_REAL_TYPE"),  # b[-1] stays as it was: 0
        ("burg", "numerator += f[j] * late[j];", "numerator += j % 7 ? f[j] * late[j] : 0;"),
        ("burg", "2, MPI_REAL_TYPE, MPI_SUM", "2, MPI_REAL_TYPE, MPI_MAX"),
        ("halo2d", "&g->neighbours[0], &g->neighbours[1]", "&g->neighbours[1], &g->neighbours[0]"),
        ("halo2d", "&a[w + columns]}", "&a[w + columns - 1]}"),
        ("ge-mpi", "long i = own_from(g, k + 1)", "long i = own_from(g, k + 2)"),
        ("ge-mpi", "g->spare, bytes", "g->spare, bytes / 2"),
        ("ge-dp", "i == pivot ? k : i)[column]", "i)[column]"),
        ("em", "row[q] -= factor * s->row[q]", "row[q] -= conj(factor) * s->row[q]"),
        ("em", "s->voltage[p] * hankel(", "cabs(s->voltage[p]) * hankel("),
        ("slalom", "-= factor * right[colour]", "-= factor * right[0]"),
        ("slalom", "x[colour] = sum[colour] /", "x[colour] = s->right[r * COLOURS + colour] /"),
        ("slalom", "(double)(index - first + 1)", "(double)(index - first)"),
        ("allreduce", "MPI_DOUBLE, MPI_SUM", "MPI_DOUBLE, MPI_MAX"),
        ("pingpong", "i < size; i++)\n        ball[i]++", "i < size - 1; i++)\n        ball[i]++"),
    ],
)
def test_a_wrong_program_finds_itself_wrong(
    program: str, right: str, wrong: str, native: Native, tmp_path: Path
) -> None:
    text = (FOLDER / f"{program}.c").read_text(encoding="utf-8")
    assert text.count(right) == 1
    for header in FOLDER.glob("*.h"):
        shutil.copy(header, tmp_path)
    source = tmp_path / "wrong.c"
    source.write_text(text.replace(right, wrong), encoding="utf-8")
    ranks = 4 if program == "halo2d" else 2  # the grid is divided both ways from four ranks on
    done = native.run(native.compiled(source, tmp_path / "wrong"), ranks, *INPUTS[program][0])
    assert done.returncode == 1, (done.returncode, done.stdout, done.stderr)
    assert "the result is wrong: " in done.stderr


@pytest.mark.compiler
@pytest.mark.parametrize("arguments", INPUTS["em"])
def test_scattering_by_threads_has_the_field_of_scattering_by_messages(arguments: tuple[str, ...]) -> None:
    printed = []
    for path in (FOLDER / "em.toml", FOLDER.parent / "em-shared.toml"):
        described = programs.load(str(path))
        built = control.build(described.sources(), ldflags=described.program.ldflags)
        record = Simulated().run(Job(built, machines.load("server-2x32-inorder"), RunPoint(processors=3), arguments))
        assert record.exit_code == 0, record.message
        printed.append(record.stdout.partition(", work")[0].strip())
    assert alike(*printed, DOUBLE), printed
