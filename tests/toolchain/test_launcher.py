"""The launcher in C compiles what the wrapper in Python would, or leaves it to that wrapper."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scalegraph.base.resources import resource_dir
from scalegraph.instrument import instrument_source
from scalegraph.instrument.units import Unit, embedded
from scalegraph.runtime.compiler import find_compiler
from scalegraph.toolchain import objects, start
from scalegraph.toolchain.launching import build_launcher, offer

pytestmark = [pytest.mark.slow, pytest.mark.compiler]
LEFT = 125
SOURCES = sorted(resource_dir("programs").glob("*.c"))
# A compiler that writes what it is given.
COPIES = '#!/bin/sh\nwhile [ "$1" != -c ]; do shift; done\ncp "$2" "$4"\n'
PLAIN = {
    "outer and inner loops": "void f(int *a) { for (int i = 0; i < 9; i++) for (int j = 0; j < 9; j++) a[i] = j; }",
    "a loop that is left": "int f(int n) { while (1) { if (n++ > 5) break; if (n == 3) return n; } return 0; }",
    "a small function": "static int f(int a) { int b = a; return b * 2; }",
    "pragmas": """
void f(double *a, int n)
{
#pragma omp parallel
#pragma omp master
    {
        a[0] = 1;
    }
#pragma omp barrier
#pragma omp parallel for collapse(2) schedule(static, 1)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
#pragma omp critical(one)
            a[i] += j;
#pragma omp atomic
            a[j]++;
        }
    if (n)
#pragma omp single
        do { n--; } while (n > 0);
    else /* here */ for (;;) break; // and here
}
""",
    "branches between functions": "#ifdef _OPENMP\n#include <omp.h>\n#endif\n#if A\nint f(int a) { return g(a); }\n"
    "#else\nint f(int a) { return h(a); }\n#endif\n#if 0\nint k(void) { return h(1); }\n#endif\n",
    "a construct around cases": "int f(int a) {\n#pragma omp single\nswitch (a) { case 1: for (;;) ; }\nreturn a; }",
    "cases": "int f(int a) { switch (a) { case 1: for (;;) ; case 'x': return 2; default: break; } "
    "return (int)(a + 1); }",
    "letters": '/* ä€😀 */ const char *f(void) { return g("\\"ü\\n"), "\x7f"; }',
}
OTHER = {
    "a macro with a body": "void f(int *a) { each(x, a) { a[0] = 1; } }",
    "a jump": "void f(void) { for (;;) goto out; out: return; }",
    "a branch inside": "void f(void) {\n#if A\nfor (;;) ;\n#endif\n}\n",
    "a hiding macro": "#define BEGIN {\nvoid f(void) { for (;;) BEGIN } }\n",
    "a phase": 'void f(void) {\n#pragma scalegraph phase "one"\ng();\n#pragma scalegraph end\n}\n',
    "assembler": 'void f(void) { for (;;) asm("nop"); }',
    "bytes that are no text": "/* \udcff */ void f(void) { for (;;) ; }",
    "braces that do not pair up": "void f(void) { for (;;) { }",
    "parameters as before C89": "int f(a) int a; { return g(a); }",
    "a header's macro that opens a body": '#include "b.h"\nvoid f(int s) { for (;;) BEGIN s = 1; s += 2; END }',
    "a header's macro before a parenthesis": '#include "b.h"\nvoid f(int s) { for (;;) BEGIN (s) = 1; s += 2; END }',
    "a header's macro before a name": '#include "b.h"\nvoid f(int *s) { for (;;) BEGIN *s = 1; *s += 2; END }',
    "a header's macro in a construct": "void f(int s) {\n#pragma omp critical\nBEGIN s = 1; f(s); END\n}",
    "a header's macro at the end of a block": "void f(int s) { for (;;) { s++; END } g(s); }",
    "macros around a statement": "void f(int s) { for (;;) { BEGIN g(s); } g(s); END }",
    "a macro before a statement": "void f(int s) { for (;;) { BEGIN s++; } }",
    "a suffix": "void f(int *a) { for (int i = 0; i < 9; i++) a[i] LATER = i; }",
    "a statement in an expression": "int f(int a) { return ({ for (;;) ; a; }); }",
}


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the launcher with a plan whose compiler copies its source."""
    place = tmp_path_factory.mktemp("launcher")
    build_launcher(find_compiler(), place / "launcher")
    (place / "copies").write_text(COPIES)
    (place / "copies").chmod(0o755)
    (place / "plan").write_text(f"word {place / 'copies'}\nheader {objects.PROBE_HEADER}\n")
    return [str(place / "launcher"), str(place / "plan")]


def _compiled(launcher: list[str], source: Path) -> str | None:
    """Return the text that the launcher gives to the compiler, None if it leaves the source to the wrapper."""
    target = source.with_suffix(".o")
    done = subprocess.run([*launcher, "-O2", "-c", source.name, "-o", str(target)], cwd=source.parent, check=False)
    assert done.returncode in (0, LEFT)
    return target.read_bytes().decode("utf-8", "surrogateescape") if done.returncode == 0 else None


def _expected(source: Path) -> str:
    text = source.read_bytes().decode("utf-8", "surrogateescape")
    made = instrument_source(text, source.name, language="c")
    remarks = tuple(map(str, made.faults))
    options = ("-g", "-O2")
    unit = Unit(str(source.parent), source.name, text, made.text, tuple(made.marked[1:]), remarks, "c", options)
    return objects._probe_header() + made.text + embedded(unit)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.stem))
def test_shipped_programs_get_the_same_probes(launcher: list[str], source: Path, tmp_path: Path) -> None:
    copy = tmp_path / source.name
    copy.write_bytes(source.read_bytes())
    made = _compiled(launcher, copy)
    assert made is None or made == _expected(copy)


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_plain_sources_are_compiled_with_the_same_probes(launcher: list[str], text: str, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(text)
    assert _compiled(launcher, tmp_path / "p.c") == _expected(tmp_path / "p.c")


@pytest.mark.parametrize("text", OTHER.values(), ids=OTHER)
def test_whatever_is_not_plain_is_left_to_the_wrapper(launcher: list[str], text: str, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(text, errors="surrogateescape")
    assert _compiled(launcher, tmp_path / "p.c") is None


@pytest.mark.parametrize(
    "words", [["-c", "p.c"], ["p.c", "-o", "p"], ["-c", "p.c", "-o", "p.o", "-fsanitize=thread"], ["-c", "-o", "p.o"]]
)
def test_other_commands_are_left_to_the_wrapper(launcher: list[str], words: list[str], tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PLAIN["cases"])
    assert subprocess.run([*launcher, *words], cwd=tmp_path, check=False).returncode == LEFT


def test_a_launcher_that_is_ended_ends_its_compiler_and_leaves_nothing(tmp_path: Path) -> None:
    build_launcher(find_compiler(), tmp_path / "launcher")
    (tmp_path / "scratch").mkdir()
    (tmp_path / "slow").write_text("#!/bin/sh\necho $$ >pid.new\nmv pid.new pid\nexec sleep 600\n")
    (tmp_path / "slow").chmod(0o755)
    (tmp_path / "plan").write_text(f"word {tmp_path / 'slow'}\nheader {objects.PROBE_HEADER}\n")
    (tmp_path / "p.c").write_text(PLAIN["cases"])
    words = [str(tmp_path / "launcher"), "plan", "-c", "p.c", "-o", "p.o"]
    started = subprocess.Popen(words, cwd=tmp_path, env={**os.environ, "TMPDIR": str(tmp_path / "scratch")})
    while not (tmp_path / "pid").exists():
        time.sleep(0.01)
    started.terminate()
    assert started.wait() == LEFT
    assert not list((tmp_path / "scratch").iterdir())
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_ignored_ends_of_children_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PLAIN["cases"])
    (tmp_path / "bad.c").write_text("int f(void) { return 1 }\n")
    cache = {**os.environ, "SCALEGRAPH_CACHE": str(tmp_path / "cache")}
    ignoring = "import os, signal, sys\n"
    ignoring += "signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.executable, sys.argv[1:])"
    for name, code in (("p.c", 0), ("p.c", 0), ("bad.c", 1)):
        start_with = [sys.executable, "-c", ignoring, sys.executable, "-m", "scalegraph.toolchain.start"]
        words = [*start_with, "-c", name, "-o", "p.o"]
        done = subprocess.run(words, cwd=tmp_path, env=cache, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr


def test_a_source_is_never_its_own_object(launcher: list[str], tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PLAIN["cases"])
    (tmp_path / "same.c").symlink_to("p.c")
    for target in ("p.c", "same.c"):
        words = [*launcher, "-c", "p.c", "-o", target]
        assert subprocess.run(words, cwd=tmp_path, check=False).returncode == LEFT
    assert (tmp_path / "p.c").read_text() == PLAIN["cases"]


def test_the_started_launcher_makes_the_wrappers_object_and_shows_its_warnings(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text("int main(void)\n{\n    for (int i = 0; i < 9; i++)\n        ;\n    int x;\n}\n")
    cache = {**os.environ, "SCALEGRAPH_CACHE": str(tmp_path / "cache")}
    words = ["-O2", "-Wall", "-c", "p.c", "-o"]

    def run(*start_with: str, target: str) -> str:
        command = [sys.executable, *start_with, *words, target]
        return subprocess.run(command, cwd=tmp_path, env=cache, capture_output=True, text=True, check=True).stderr

    said = run("-m", "scalegraph.toolchain.wrapper", "c", target="one.o")
    assert list((tmp_path / "cache" / "launchers").glob("*.plan"))
    again = run("-X", "importtime", "-m", "scalegraph.toolchain.start", target="two.o")
    assert "p.c:5" in said
    assert said in again
    assert "scalegraph.toolchain.wrapper" not in again  # which the launcher made superfluous
    assert (tmp_path / "one.o").read_bytes() == (tmp_path / "two.o").read_bytes()


def test_a_plan_of_something_else_is_not_followed(
    launcher: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCALEGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(PLAIN["cases"])
    offer(find_compiler())
    words = ["-c", "p.c", "-o", "p.o"]
    assert start._launched(words) == 0
    monkeypatch.setenv("SCALEGRAPH_DETAIL", "all")
    assert start._launched(words) == LEFT
    monkeypatch.delenv("SCALEGRAPH_DETAIL")
    plan = Path(start.plan_path(str(tmp_path / "cache")))
    plan.write_text(plan.read_text().replace("stamp ", "stamp 1"))
    assert start._launched(words) == LEFT
    plan.chmod(0o666)
    assert start._launched(words) == LEFT


def test_a_compiler_that_was_asked_for_does_not_become_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCALEGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SCALEGRAPH_CC", "gcc -DASKED")
    offer(find_compiler())
    assert not Path(start.plan_path(str(tmp_path / "cache"))).exists()
