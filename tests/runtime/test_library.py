"""The compiler that is found, the library that is built, and its cache."""

import os
import re
import shutil
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError, Cancelled, MissingTool, WorkError
from scalegraph.base.events import Building, Event, builds_shown
from scalegraph.base.working_words import building_words
from scalegraph.control.build import build
from scalegraph.runtime import library as building
from scalegraph.runtime import objects
from scalegraph.runtime.cache import get_or_make, tidy, trim
from scalegraph.runtime.compiler import Compiler, find_compiler


def fake(path: Path, script: str) -> str:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_missing_compiler_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(MissingTool, match=r"gcc.* was not found; install one with: apt-get install gcc libc6-dev"):
        find_compiler()


@pytest.mark.parametrize(
    ("macros", "words"),
    [
        ("__GNUC__ 9;__GNUC_MINOR__ 3;__x86_64__ 1;__linux__ 1", "is gcc 9.3.0; gcc 10 or newer is needed"),
        ("__GNUC__ 12;__riscv 1;__linux__ 1", "needs x86-64 or aarch64 Linux"),
    ],
)
def test_unfit_compiler_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, macros: str, words: str) -> None:
    lines = "\n".join(f'echo "#define {macro}"' for macro in macros.split(";"))
    monkeypatch.setenv("CC", fake(tmp_path / "cc", lines))
    with pytest.raises(MissingTool, match=words):
        find_compiler()


def test_clang_is_told_from_gcc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lines = "\n".join(
        f'echo "#define {macro}"'
        for macro in ("__GNUC__ 4", "__clang__ 1", "__clang_major__ 14", "__x86_64__ 1", "__linux__ 1")
    )
    monkeypatch.setenv("CC", fake(tmp_path / "cc", lines))
    found = find_compiler()
    assert (found.clang, found.version) == (True, "14.0.0")
    monkeypatch.setenv("FC", fake(tmp_path / "fc", lines))
    with pytest.raises(MissingTool, match="is flang; gfortran 10 or newer is needed"):
        find_compiler("fortran")


def test_what_was_found_out_about_a_compiler_is_kept_until_it_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = [f'echo "#define {macro}"' for macro in ("__GNUC__ 12", "__x86_64__ 1", "__linux__ 1")]
    asked = tmp_path / "asked"
    monkeypatch.setenv("SCALEGRAPH_CC", fake(tmp_path / "cc", "\n".join([f"echo x >> {asked}", *lines])))
    assert find_compiler() == find_compiler()
    assert len(asked.read_text().split()) == 2  # its macros and its target, only once
    fake(tmp_path / "cc", "\n".join([f"echo y >> {asked}", *lines, ""]))
    find_compiler()
    assert "y" in asked.read_text()


def test_our_own_wrapper_is_not_taken_for_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "scalegraph-cc")
    assert find_compiler().command == ("gcc",)


def test_broken_compiler_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CC", fake(tmp_path / "cc", "echo oh no >&2; exit 1"))
    with pytest.raises(MissingTool, match=r"does not work.*oh no"):
        find_compiler()


def test_full_disk_is_not_taken_for_a_fault_of_the_source(tmp_path: Path) -> None:
    script = "echo 'a.s: Fatal error: a.o: No space left on device' >&2; exit 1"
    with pytest.raises(WorkError, match="the disk is full"):
        Compiler((fake(tmp_path / "cc", script),), "12", "x86_64").run([])


def test_long_compilation_can_be_cancelled(tmp_path: Path) -> None:
    compiler = Compiler((fake(tmp_path / "cc", "sleep 1000"),), "12", "x86_64")
    token = CancelToken()
    timer = threading.Timer(0.2, token.cancel)
    timer.start()
    with pytest.raises(Cancelled):
        compiler.run([], cancel=token)
    timer.join()


@pytest.mark.compiler
def test_library_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = find_compiler()
    first = building.library(compiler)
    monkeypatch.setattr(building, "_build", None)  # would fail if it were called again
    again = building.library(compiler)
    assert first == again
    assert os.access(first.launcher, os.X_OK)
    assert "-no-pie" in first.link_flags


@pytest.mark.slow
@pytest.mark.compiler
def test_library_has_no_zeroed_variables() -> None:
    """Common symbols of a program (names of critical sections) come after all of .bss: ours would move them."""
    made = building.library(find_compiler())
    table = ["nm", "--format=posix", str(made.archive), str(made.mpi())]
    lines = subprocess.run(table, capture_output=True, text=True, check=True).stdout.splitlines()
    kinds = {words[0]: words[1] for words in map(str.split, lines) if len(words) == 4}
    assert len(kinds) > 1000
    assert {name: kind for name, kind in kinds.items() if kind in "bBC"} == {}


# Called when the process ends, or when writing to the user's terminal, just as the program would.
_SERVED: frozenset[str] = frozenset(("abort", "fgets", "fprintf", "fputc", "fputs", "fwrite"))


@pytest.mark.slow
@pytest.mark.compiler
def test_library_itself_calls_no_function_that_is_simulated_for_the_program() -> None:
    """Work of the library would be charged to the program, and replace its last call."""
    made = building.library(find_compiler())
    wrapped = {flag.partition("wrap=")[2] for flag in made.link_flags if "--wrap=" in flag}
    table = ["nm", "--format=posix", "--undefined-only", str(made.archive), str(made.mpi())]
    lines = subprocess.run(table, capture_output=True, text=True, check=True).stdout.splitlines()
    called = {words[0] for words in map(str.split, lines) if len(words) == 2}
    assert {"strcmp", "qsort"} <= wrapped
    assert "__real_strcmp" in called
    assert (called & wrapped) - _SERVED == set()


@pytest.mark.compiler
def test_library_has_no_constants_that_merge_with_the_programs() -> None:
    """The linker merges equal strings of all objects into one section: ours would move those of the program."""
    compiler = find_compiler()
    if compiler.clang:
        pytest.skip("clang has no option for that")
    made = building.library(compiler)
    table = ["readelf", "--sections", "--wide", str(made.archive), str(made.mpi())]
    text = subprocess.run(table, capture_output=True, text=True, check=True).stdout
    assert ".rodata" in text
    assert re.findall(r"\.rodata\.(?:str|cst)\S*", text) == []


@pytest.fixture(autouse=True)
def _sources_as_they_are() -> Iterator[None]:
    """Isolate other tests from the simulator sources that a test here substitutes."""
    yield
    building.sources_digest.cache_clear()


@pytest.mark.slow
@pytest.mark.compiler
def test_library_that_does_not_compile_is_our_fault_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "csrc"
    (sources / "launch").mkdir(parents=True)
    (sources / "sg_broken.c").write_text("int broken\n")
    (sources / "launch" / "sg_launch.c").write_text("int main(void) { return 0; }\n")
    for name in ("compile.flags", "link.flags"):
        (sources / name).write_text("")
    monkeypatch.setattr(building, "SOURCES", sources)
    monkeypatch.setattr(building, "_LAUNCHER_SOURCE", sources / "launch" / "sg_launch.c")
    monkeypatch.setattr(building, "_fortran_bindings", str)  # they need headers that are missing here
    monkeypatch.setenv("SCALEGRAPH_CACHE", str(tmp_path / "cache"))
    with pytest.raises(BuildError, match=r"sg_broken.c does not compile .* fault of ScaleGraph") as caught:
        building.library(find_compiler())
    assert "error:" in caught.value.output
    assert [path for path in (tmp_path / "cache" / "runtime").iterdir() if path.is_dir()] == []


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the sources of a three-file runtime, with an empty cache and a compiler whose calls are counted."""
    sources = tmp_path / "csrc"
    (sources / "launch").mkdir(parents=True)
    (sources / "one.h").write_text("#define ONE 1\n")
    (sources / "sg_one.c").write_text('#include "one.h"\nint one(void) { return ONE; }\n')
    (sources / "sg_two.c").write_text("int two(void) { return 2; }\n")
    (sources / "launch" / "sg_launch.c").write_text("int main(void) { return 0; }\n")
    for name in ("compile.flags", "link.flags"):
        (sources / name).write_text("")
    monkeypatch.setattr(building, "SOURCES", sources)
    monkeypatch.setattr(building, "_LAUNCHER_SOURCE", sources / "launch" / "sg_launch.c")
    monkeypatch.setattr(building, "_fortran_bindings", str)
    monkeypatch.setattr(building, "_describe", lambda *_: None)
    monkeypatch.setenv("SCALEGRAPH_CACHE", str(tmp_path / "cache"))
    return sources


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the sources that were compiled."""
    names: list[str] = []
    run = Compiler.run

    def counted(self: Compiler, arguments: Sequence[str], **more: Any) -> subprocess.CompletedProcess[str]:
        if "-c" in arguments:
            names.append(Path(arguments[arguments.index("-c") + 1]).name)
        return run(self, arguments, **more)

    monkeypatch.setattr(Compiler, "run", counted)
    return names


ALL = ["sg_launch.c", "sg_one.c", "sg_two.c"]


@pytest.mark.slow
@pytest.mark.compiler
def test_a_change_compiles_only_the_sources_that_it_concerns(small: Path, compiled: list[str]) -> None:
    building.sources_digest.cache_clear()
    first = building.library(find_compiler())
    assert sorted(compiled) == ALL
    for change, expected in (
        (("one.h", "#define ONE 11\n"), ["sg_one.c"]),
        (("sg_two.c", "int two(void) { return 22; }\n"), ["sg_two.c"]),
    ):
        compiled.clear()
        (small / change[0]).write_text(change[1])
        building.sources_digest.cache_clear()
        assert building.library(find_compiler()).archive != first.archive
        assert compiled == expected
    building.sources_digest.cache_clear()


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.usefixtures("small")
def test_a_damaged_object_is_compiled_again(compiled: list[str]) -> None:
    compiler = find_compiler()
    where = building.library(compiler).archive.parent
    shutil.rmtree(where)
    (cut, *_) = [path for path in (where.parents[1] / "objects").iterdir() if b"sg_two.c" in path.read_bytes()]
    cut.write_bytes(cut.read_bytes()[:100])
    compiled.clear()
    assert building.library(compiler).archive.exists()
    assert compiled == ["sg_two.c"]


@pytest.mark.slow
@pytest.mark.compiler
def test_shipped_objects_are_taken_if_they_are_what_would_be_compiled(
    small: Path, compiled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = tmp_path / "shipped"
    monkeypatch.setattr(building, "_mpi_sources", lambda _where: [])
    building.write_objects(shipped)
    assert sorted(compiled) == ALL
    monkeypatch.setattr(objects, "SHIPPED", shipped)
    for number, (change, expected) in enumerate(
        (
            (lambda: None, []),
            (lambda: (small / "one.h").write_text("#define ONE 11\n"), ["sg_one.c"]),
            (lambda: (small / "compile.flags").write_text("-O1\n"), ["sg_one.c", "sg_two.c"]),
            (lambda: monkeypatch.setattr(objects, "_tools", lambda _compiler: "of another computer"), ALL),
        )
    ):
        compiled.clear()
        change()
        building.sources_digest.cache_clear()
        monkeypatch.setenv("SCALEGRAPH_CACHE", str(tmp_path / f"cache{number}"))
        assert building.library(find_compiler()).archive.exists()
        assert sorted(compiled) == expected
    building.sources_digest.cache_clear()


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.usefixtures("small")
def test_the_first_build_says_how_many_files_are_done() -> None:
    seen: list[Event] = []
    with builds_shown(seen.append):
        building.library(find_compiler())
        building.library(find_compiler())
    counts = [(event.done, event.of) for event in seen if isinstance(event, Building)]
    assert counts == [(done, 3) for done in range(4)]
    words = building_words(Building("the simulator", 120, 245, 7.9))
    assert words == "building the simulator: 120 of 245 files, 7.9 s left"


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.usefixtures("small")
def test_a_build_of_the_runtime_can_be_cancelled_and_leaves_nothing_half_done(tmp_path: Path) -> None:
    token = CancelToken()

    def stop(event: Event) -> None:
        if isinstance(event, Building) and event.done == 1:
            token.cancel()

    with pytest.raises(Cancelled):
        building.library(find_compiler(), stop, token)
    assert [path for path in (tmp_path / "cache" / "runtime").iterdir() if path.is_dir()] == []


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.usefixtures("small")
def test_two_processes_that_need_the_runtime_at_once_build_it_once(compiled: list[str]) -> None:
    threads = [threading.Thread(target=building.library, args=(find_compiler(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(compiled) == ALL


def test_failed_making_leaves_no_entry(tmp_path: Path) -> None:
    def fail(where: Path) -> None:
        (where / "part").write_text("x")
        raise BuildError("no")

    with pytest.raises(BuildError):
        get_or_make(tmp_path / "cache" / "entry", fail)
    assert [path.name for path in (tmp_path / "cache").iterdir() if path.is_dir()] == []


def test_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkError, match=r"the cache cannot be written.*SCALEGRAPH_CACHE"):
        get_or_make(tmp_path / "file" / "entry", lambda _: None)


def test_longest_unused_entries_go_first(tmp_path: Path) -> None:
    for age, name in enumerate(("new", "kept", "older", "oldest")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "data").write_bytes(b"x" * 1000)
        stamp = (tmp_path / name).stat().st_mtime - age * 10_000
        os.utime(tmp_path / name, (stamp, stamp))
    trim(tmp_path, 2500, keep=tmp_path / "oldest")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "oldest"]


def test_entries_are_looked_through_once_an_hour(tmp_path: Path) -> None:
    def left_of(*names: str) -> list[str]:
        for name in names:
            (tmp_path / name).write_bytes(b"x" * 1000)
            os.utime(tmp_path / name, (time.time() - 8000, time.time() - 8000))
        tidy(tmp_path, 1000)
        return sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("."))

    assert left_of("a", "b") == ["b"]
    assert left_of("c", "d") == ["b", "c", "d"]
    (stamp,) = tmp_path.glob(".*")
    os.utime(stamp, (time.time() - 8000, time.time() - 8000))
    assert len(left_of()) == 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: (entry / "text").write_text(""),
        lambda entry: (entry / "text").write_text("b"),
        lambda entry: (entry / "inside" / "more").unlink(),
        lambda entry: (entry / ".contents.json").write_text("{"),
        lambda entry: (entry / ".contents.json").unlink(),
        lambda entry: shutil.rmtree(entry / "inside"),
    ],
)
def test_a_damaged_entry_is_made_again(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    made = []

    def make(where: Path) -> None:
        made.append(where)
        (where / "text").write_text("a")
        (where / "inside").mkdir()
        (where / "inside" / "more").write_bytes(b"\0")

    entry = tmp_path / "cache" / "entry"
    assert get_or_make(entry, make) == get_or_make(entry, make) == entry
    assert len(made) == 1
    damage(entry)
    get_or_make(entry, make)
    assert ((entry / "text").read_text(), (entry / "inside" / "more").read_bytes(), len(made)) == ("a", b"\0", 2)


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.usefixtures("empty_cache")
def test_a_program_whose_build_was_damaged_in_the_cache_is_built_again(tmp_path: Path) -> None:
    source = tmp_path / "some.c"
    source.write_text("int main(void) { return 0; }\n")
    first = build([source])
    for path in first.executable.parent.iterdir():
        if path.is_file():
            path.write_bytes(b"")
    again = build([source])
    assert again.executable.stat().st_size > 0
    assert again.regions == first.regions
