"""Code from a file never runs without consent; for code typed, built or approved here, consent is not requested."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import scalegraph.api as sg
from scalegraph.base.errors import InputError
from scalegraph.base.resources import resource_dir
from scalegraph.cli import trusting
from scalegraph.request import Session
from scalegraph.request.consent import asking, record
from scalegraph.request.consent.options import risky_options
from scalegraph.request.model.origin import Origin
from scalegraph.request.model.request import MachineChoice, ProgramChoice, Request
from tests.security.conftest import foreign_study

C = "int main(void) { return 0; }\n"
SHARED = """static volatile int a[3000];
int main(void) {
#pragma omp parallel for
    for (int i = 0; i < 3000; i++)
        a[i] = i;
    return 0;
}
"""
HELD = pytest.mark.compiler


def touching(mark: Path) -> str:
    return f"touch {shlex.quote(str(mark))}"


def request_file(place: Path, program: str, more: str = "") -> Path:
    path = place / "theirs.toml"
    path.write_text(f'processors = [1]\n{more}[program]\n{program}\n[machine]\nname = "ksr1"\n')
    return path


def constructor(mark: Path) -> str:
    """Return C source that creates the file *mark* when it is loaded."""
    return (
        "#include <fcntl.h>\n"
        f'__attribute__((constructor)) static void begin(void) {{ (void)open("{mark}", O_CREAT | O_WRONLY, 0600); }}\n'
    )


RISKS = {
    "build": ('executable = "p"\nbuild = "touch {mark}"', "build command"),
    "executable": ('executable = "theirs"', "executable"),
    "wrapper": ('sources = ["a.c"]\ncflags = ["-wrapper", "./run"]', "-wrapper ./run"),
    "B": ('sources = ["a.c"]\ncflags = ["-B./bin"]', "-B./bin"),
    "plugin": ('sources = ["a.c"]\ncflags = ["-fplugin=./x.so"]', "-fplugin=./x.so"),
    "specs": ('sources = ["a.c"]\nldflags = ["-specs=./specs"]', "-specs=./specs"),
    "response file": ('sources = ["a.c"]\ncflags = ["@args"]', "@args"),
    "linker plugin": ('sources = ["a.c"]\nldflags = ["-Wl,-plugin,./x.so"]', "-Wl,-plugin,./x.so"),
    "Xlinker": ('sources = ["a.c"]\nldflags = ["-Xlinker", "-plugin", "-Xlinker", "x.so"]', "-Xlinker -plugin"),
    "fuse-ld": ('sources = ["a.c"]\nldflags = ["-fuse-ld=evil"]', "-fuse-ld=evil"),
    "sysroot": ('sources = ["a.c"]\ncflags = ["--sysroot=."]', "--sysroot=."),
    "include": ('sources = ["a.c"]\ncflags = ["-include", "/etc/passwd"]', "-include /etc/passwd"),
    "module mapper": ('sources = ["a.c"]\ncflags = ["-fmodule-mapper=|sh x"]', "-fmodule-mapper=|sh x"),
    "object": ('sources = ["a.c", "b.o"]', "linked file: b.o"),
    "preload": ('sources = ["a.c"]\nenv = {{ LD_PRELOAD = "./x.so" }}', "LD_PRELOAD=./x.so"),
    "path": ('sources = ["a.c"]\nenv = {{ PATH = "." }}', "PATH=."),
    "gcc": ('sources = ["a.c"]\nenv = {{ GCC_EXEC_PREFIX = "./" }}', "GCC_EXEC_PREFIX=./"),
}


@pytest.mark.parametrize("name", RISKS)
def test_a_request_file_that_may_run_something_is_refused_without_trust(
    name: str, tmp_path: Path, mark: Path, call: Any
) -> None:
    program, shown = RISKS[name]
    (tmp_path / "a.c").write_text(C)
    (tmp_path / "b.o").write_bytes(b"")
    (tmp_path / "theirs").write_text(f"#!/bin/sh\n{touching(mark)}\n")
    (tmp_path / "theirs").chmod(0o755)
    path = request_file(tmp_path, program.format(mark=mark))
    code, out, err = call("run", path)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert shown in err
    assert "--trust" in err
    assert not mark.exists()
    assert not path.with_suffix(".sgstudy").exists()
    code, out, _ = call("run", path, "--plan")
    assert code == 0
    assert shown in out
    assert any(shown in line for line in json.loads(call("run", path, "--plan", "--json")[1])["to_trust"])
    with pytest.raises(InputError, match="trust=True"):
        sg.run(path)
    assert not mark.exists()


def test_a_program_file_that_a_request_names_is_not_trusted_either(tmp_path: Path, call: Any) -> None:
    (tmp_path / "a.c").write_text(C)
    (tmp_path / "p.toml").write_text('title = "p"\nsources = ["a.c"]\ncflags = ["-fplugin=./x.so"]\n')
    code, _, err = call("run", request_file(tmp_path, 'name = "./p.toml"'))
    assert code == 2
    assert "compiler option: -fplugin=./x.so" in err


def test_options_that_only_change_the_code_are_harmless() -> None:
    words = (
        "-O3 -Ofast -g -ggdb3 -march=native -mavx2 -mtune=generic -DN=10 -D N -Ifoo -I ../x -Wall -Wno-unused=2 "
        "-std=gnu11 -fopenmp -ffast-math -fno-math-errno -ffp-contract=fast -funroll-loops --param max-unroll=4 "
        "-pthread -w -lm -L/usr/lib -l stdc++ -Wl,-O1,--as-needed,-z,now -isystem inc -ffree-line-length-none"
    )
    assert list(risky_options(words.split())) == []


@pytest.mark.parametrize(
    "text",
    ["-Wl,-rpath,/x", "-Wl,x.so", "-Wa,-a=f", "-Wp,-MD,f", "-fdump-tree-all", "-dumpdir d", "-T s.ld", "-Xclang -load",
     "-mllvm -load", "-x lto", "lib.a", "-aux-info f", "-fauto-profile=f", "-foffload=x", "-unknown", "-J d",
     "-fdiagnostics-format=json-file", "-fopt-info=/x", "-Wl,-z,now,--plugin=x", "-flto-partition=x"],
)  # fmt: skip
def test_options_that_may_run_load_or_write_are_risks(text: str) -> None:
    assert list(risky_options(text.split())) == [text]


@pytest.mark.slow
@HELD
def test_a_request_file_with_plain_sources_runs(tmp_path: Path, call: Any) -> None:
    (tmp_path / "a.c").write_text(C)
    code, out, _ = call("run", request_file(tmp_path, 'sources = ["a.c"]\ncflags = ["-O1"]'))
    assert code == 0
    assert "1 run in " in out


@pytest.mark.slow
@HELD
def test_trust_runs_it_and_is_remembered_for_exactly_this(tmp_path: Path, mark: Path, call: Any) -> None:
    (tmp_path / "a.c").write_text(C)
    command = f"{touching(mark)}; test -e p || scalegraph-cc -o p a.c"
    path = request_file(tmp_path, f'executable = "p"\nbuild = {json.dumps(command)}')
    assert call("run", path, "--trust")[0] == 0
    assert mark.exists()
    assert "theirs" not in record.record_path().read_text()
    assert call("run", path)[0] == 0  # approved before
    assert "to_trust" in (shown := json.loads(call("run", path, "--plan", "--json")[1]))
    assert shown["to_trust"] == []
    other = request_file(tmp_path, f'executable = "p"\nbuild = {json.dumps(command + " ")}')
    assert call("run", other)[0] == 2


@HELD
@pytest.mark.parametrize("limit", [1 << 20, 4], ids=["read whole", "too large to read"])
def test_an_executable_that_changed_is_asked_for_again(
    tmp_path: Path, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_LARGEST", limit)
    path = request_file(tmp_path, 'executable = "theirs"')
    (tmp_path / "theirs").write_text("#!/bin/sh\n")
    session = Session()
    first = session.consent(session.load(path))
    assert first is not None
    record.remember(first.fingerprint)
    assert session.consent(session.load(path)) is None
    (tmp_path / "theirs").write_text("#!/bin/sh\nexit 1\n")
    assert session.consent(session.load(path)) is not None


PROGRAMS: dict[str, dict[str, Any]] = {
    "build": {"executable": "p", "build": "touch {mark}", "directory": "{place}"},
    "executable": {"executable": "theirs", "directory": "{place}"},
    "sources": {"sources": ("a.c",), "directory": "{place}"},
    "options": {"sources": ("a.c",), "cflags": ("-wrapper", "{place}/theirs"), "directory": "{place}"},
    "shipped with a plugin": {"name": "ge1", "cflags": ("-fplugin={place}/x.so",)},
    "shipped with a preload": {"name": "ge1", "env": {"LD_PRELOAD": "{place}/x.so"}},
    "shipped name, other headers": {"name": "ge1", "include": ("{place}",)},
}


def _filled(value: Any, **words: Any) -> Any:
    if isinstance(value, str):
        return value.format(**words)
    if isinstance(value, dict):
        return {key: _filled(item, **words) for key, item in value.items()}
    return tuple(_filled(item, **words) for item in value)


@pytest.fixture(params=PROGRAMS)
def theirs(request: pytest.FixtureRequest, tmp_path: Path, mark: Path) -> Path:
    (tmp_path / "a.c").write_text(constructor(mark) + C)
    (tmp_path / "theirs").write_text(f'#!/bin/sh\n{touching(mark)}\nexec "$@"\n')
    (tmp_path / "theirs").chmod(0o755)
    program = _filled(PROGRAMS[request.param], mark=mark, place=tmp_path)
    return foreign_study(tmp_path / "theirs.sgstudy", program)


@pytest.mark.slow
def test_a_study_of_others_runs_nothing_by_advise_without_trust(theirs: Path, mark: Path, call: Any) -> None:
    before = theirs.read_bytes()
    assert call("advise", theirs)[0] == 0
    code, out, err = call("advise", theirs, "--run")
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "theirs.sgstudy" in err
    assert "--trust" in err
    assert not mark.exists()
    assert theirs.read_bytes() == before


@pytest.mark.slow
def test_runs_that_a_study_lacks_are_asked_for_too(tmp_path: Path, mark: Path, call: Any) -> None:
    """A request that continues a study, or repeats its runs, is treated like any other."""
    path = request_file(tmp_path, f'executable = "p"\nbuild = "{touching(mark)}"')
    study = foreign_study(tmp_path / "begun.sgstudy", {"executable": "p", "build": touching(mark)}, (1, 2))
    before = study.read_bytes()
    for more in ("", "repetitions = 3\n"):
        path.write_text(more + path.read_text())
        code, out, err = call("run", path, "-o", study)
        assert (code, out, len(err.splitlines())) == (2, "", 1)
        assert "--trust" in err
    assert not mark.exists()
    assert study.read_bytes() == before


@pytest.mark.slow
def test_nothing_that_opens_a_study_runs_it(theirs: Path, mark: Path, tmp_path: Path, call: Any) -> None:
    call("export", theirs, "--view", "time", "-o", tmp_path / "x.csv")
    call("report", theirs, "--views", "source,profile,time", "-o", tmp_path / "x.html")
    call("analyze", theirs, "--what", "time")
    call("matrix", theirs)
    session = Session()
    with session.open(theirs) as study:
        session.plan(Request.model_validate(study.manifest.request), theirs)
    assert not mark.exists()


@pytest.mark.parametrize("answer", ["y", "n", ""])
def test_on_a_terminal_the_command_is_shown_and_asked_for(
    answer: str, tmp_path: Path, mark: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

        def __getattr__(self, name: str) -> Any:
            return getattr(sys.__stderr__, name)

    path = request_file(tmp_path, f'executable = "p"\nbuild = "{touching(mark)}"')
    session = Session()
    monkeypatch.setattr(trusting, "sys", type("Both", (), {"stdin": Terminal(), "stderr": Terminal()}))
    monkeypatch.setattr(trusting, "on_terminal", lambda **_: True)
    asked: list[str] = []

    def confirm(text: str, **_: Any) -> bool:
        asked.append(text)
        return answer == "y"

    monkeypatch.setattr(trusting.click, "confirm", confirm)
    request = session.load(path)
    if answer == "y":
        consent = trusting.settled(session, request, trust=False)
        assert consent is not None
        assert any(item.text == touching(mark) for item in consent.items)
    else:
        with pytest.raises(InputError, match="nothing was run"):
            trusting.settled(session, request, trust=False)
    assert touching(mark) in capfd.readouterr().err
    assert len(asked) == 1
    assert not mark.exists()


def test_escape_sequences_cannot_hide_a_command(tmp_path: Path, call: Any) -> None:
    hidden = 'executable = "p"\nbuild = "evil \\u001b[2K\\u001b[1Gmake \\u202egnp.exe"'
    _, _, err = call("run", request_file(tmp_path, hidden))
    assert "evil \\x1b[2K\\x1b[1Gmake \\u202egnp.exe" in err
    assert "\x1b" not in err


@pytest.mark.slow
@HELD
def test_a_study_made_here_does_not_ask(tmp_path: Path, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text(SHARED)
    assert call("simulate", "a.c", "-p", "1,2,4", "-m", "ksr1", "--env", "LD_BIND_NOW=1", "-o", "s.sgstudy")[0] == 0
    assert call("advise", "s.sgstudy", "--run", "--at", "16")[0] == 0
    Path("a.c").write_text(SHARED + "\n")  # not what was built here
    code, out, err = call("advise", "s.sgstudy", "--run", "--at", "32")
    assert code == 2, out + err
    assert "was not written here" in err


@pytest.mark.slow
@HELD
def test_the_shipped_study_and_requests_run_without_asking(tmp_path: Path) -> None:
    session = Session()
    copy = tmp_path / "demo.sgstudy"
    shutil.copy(resource_dir("studies") / "demo.sgstudy", copy)
    with Session().open(copy) as study:
        kept = Request.model_validate(study.manifest.request).with_origin(Origin("study", "demo"))
    assert session.consent(kept) is None
    for path in sorted(resource_dir("requests").glob("*.toml")):
        assert session.consent(session.load(path)) is None
    for described in session.programs():
        request = Request(program=ProgramChoice(name=described.name), machine=MachineChoice(name="ksr1"))
        assert session.consent(request.with_origin(Origin("study", "x"))) is None
    assert not record.record_path().exists()


def test_the_record_is_the_users_alone(tmp_path: Path) -> None:
    record.remember("a" * 64)
    record.remember("b" * 64)
    record.remember("a" * 64)
    assert record.record_path().read_text().split() == ["a" * 64, "b" * 64]
    assert record.record_path().stat().st_mode & 0o077 == 0
    assert record.record_path().is_relative_to(os.environ["XDG_STATE_HOME"])
    assert tmp_path in record.record_path().parents


def test_a_record_that_cannot_be_kept_only_asks_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    record.remember("a" * 64)
    assert not record.is_known("a" * 64)


@pytest.mark.slow
def test_only_one_place_makes_requests_of_files() -> None:
    """A request read from a file must be marked with its origin; otherwise it would run without consent.

    The forms and the options of a command make requests of what the user types; `cli.asked.sampled` keeps the origin.
    """
    root = Path(sg.__file__).parents[1]
    typed = {"gui/request/form.py", "gui/measure/form.py", "cli/simulating/request.py", "cli/asked.py"}
    allowed = {"request/model/origin.py", "request/planning/checking.py", *typed}
    for path in root.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "Request.model_validate" in text or "validate(Request," in text:
            assert str(path.relative_to(root)) in allowed
