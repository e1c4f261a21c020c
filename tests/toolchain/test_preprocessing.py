"""The preprocessor runs only if a file that it would read has changed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.runtime import unchanged
from scalegraph.runtime.compiler import Compiler, find_compiler
from scalegraph.runtime.unchanged import digest_of
from scalegraph.toolchain.objects import Compilation
from scalegraph.toolchain.preprocessing import preprocessed

pytestmark = pytest.mark.compiler

SOURCE = '#include <stdio.h>\n#include "a.h"\n#include <sub/b.h>\nint main(void) { return A + B; }\n'


class Calls:
    """Digests of a source, and how often the compiler ran for them."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place = place
        self.count = 0
        self.options = ["-O2", "-I", "first", "-I", "second"]
        run = Compiler.run

        def counted(compiler: Compiler, arguments: list[str], **more: object) -> object:
            self.count += 1
            return run(compiler, arguments, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(Compiler, "run", counted)

    def write(self, **files: str) -> None:
        for name, text in files.items():
            path = self.place / name.replace("__", "/").replace("_h", ".h").replace("_c", ".c")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def digest(self) -> bytes:
        return preprocessed(Compilation(find_compiler(), tuple(self.options), self.place, CancelToken()), "p.c")

    def again(self) -> tuple[bytes, int]:
        """Return the digest, and how often the compiler ran for it."""
        before = self.count
        return self.digest(), self.count - before


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calls:
    monkeypatch.setenv("SCALEGRAPH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    monkeypatch.setattr(unchanged, "_STEP_NS", 0)  # the test's files are as old as the test
    monkeypatch.setattr("scalegraph.toolchain.preprocessing._TICK_NS", 0)
    place = tmp_path / "sources"
    place.mkdir()
    made = Calls(place, monkeypatch)
    made.write(p_c=SOURCE, a_h="#define A 1\n", second__sub__b_h="#define B 2\n", first__other_h="\n")
    return made


@pytest.mark.slow
def test_it_does_not_run_while_nothing_has_changed(calls: Calls) -> None:
    first = calls.digest()
    assert calls.again() == (first, 0)
    calls.write(unrelated_c="int x;\n")  # the directory changes, but none of the searched names
    assert calls.again() == (first, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda calls: calls.write(p_c=SOURCE.replace("A + B", "A - B")),
        lambda calls: calls.write(a_h="#define A 7\n"),
        lambda calls: calls.write(second__sub__b_h="#define B 8\n"),
        lambda calls: calls.write(first__sub__b_h="#define B 9\n"),
        lambda calls: calls.options.insert(0, "-Dmain=start"),
        lambda calls: calls.options.insert(0, "-O1"),
        lambda calls: (calls.place / "a.h").unlink(),
    ],
    ids=["source", "header", "header of a path", "header that comes first now", "macro", "option", "header gone"],
)
def test_it_runs_again_when_something_has_changed(calls: Calls, change: Callable[[Calls], object]) -> None:
    first = calls.digest()
    change(calls)
    second, runs = calls.again()
    assert runs == 1
    assert (second != first) == (calls.options[0] != "-O1")


@pytest.mark.slow
def test_a_header_that_comes_into_an_existing_directory_is_noticed(calls: Calls) -> None:
    calls.write(first__sub__c_h="\n")
    first = calls.digest()
    assert calls.again() == (first, 0)
    calls.write(first__sub__b_h="#define B 5\n")
    second, runs = calls.again()
    assert second != first
    assert runs == 1


@pytest.mark.slow
def test_another_header_of_the_same_size_and_time_is_noticed(calls: Calls) -> None:
    first = calls.digest()
    header = calls.place / "a.h"
    was = header.stat()
    header.write_text("#define A 4\n")
    os.utime(header, ns=(was.st_atime_ns, was.st_mtime_ns))
    second, runs = calls.again()
    assert second != first
    assert runs == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["CPATH", "C_INCLUDE_PATH"])
def test_a_variable_that_names_directories_of_headers_counts(
    calls: Calls, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    calls.digest()
    monkeypatch.setenv(name, "third")
    assert calls.again()[1] == 1


@pytest.mark.slow
def test_of_what_has_changed_just_now_nothing_is_kept(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unchanged, "_STEP_NS", 10**18)
    first = calls.digest()
    assert calls.again() == (first, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ['#if __has_include("z.h")\n#endif\n', "char when[] = __TIME__;\n", "char when[] = __DATE__;\n"]
)
def test_it_runs_each_time_for_a_source_that_asks_what_no_file_says(calls: Calls, text: str) -> None:
    calls.write(a_h=f"#define A 1\n{text}")
    calls.digest()
    assert calls.again()[1] == 1


@pytest.mark.slow
def test_it_runs_each_time_for_a_compiler_that_is_a_script(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    script = calls.place / "cc"
    script.write_text('#!/bin/sh\nexec gcc "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    monkeypatch.delenv("SCALEGRAPH_CC", raising=False)
    calls.digest()
    assert calls.again()[1] == 1


def test_names_with_blanks_are_followed(calls: Calls) -> None:
    calls.write(p_c='#include "a b$#.h"\nint a = A;\n')
    header = calls.place / "a b$#.h"
    header.write_text("#define A 1\n")
    first = calls.digest()
    assert calls.again() == (first, 0)
    header.write_text("#define A 2\n")
    assert calls.again()[0] != first


def _refusing(refused: set[Path], read: Callable[[Path], bytes]) -> Callable[[Path], bytes]:
    def reading(path: Path) -> bytes:
        assert path not in refused
        return read(path)

    return reading


def test_a_digest_of_files_follows_their_content_and_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALEGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(unchanged, "_STEP_NS", 0)
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("1")
    two.write_text("2")
    paths = [str(one), str(two)]
    first = digest_of(paths)
    with monkeypatch.context() as context:
        context.setattr(Path, "read_bytes", _refusing({one, two}, Path.read_bytes))
        assert digest_of(paths) == first
    was = two.stat()
    two.write_text("3")
    os.utime(two, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert digest_of(paths) != first
    two.write_text("2")
    assert digest_of(paths) == first
    assert digest_of(paths[::-1]) != first
