"""Shell completion through the installed files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

VARIABLE = "_SCALEGRAPH_COMPLETE"


@pytest.fixture
def command(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which ``scalegraph`` is this one."""
    program = tmp_path / "bin" / "scalegraph"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m scalegraph.cli.main "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}


def answers(words: str, place: int) -> list[str]:
    """Return what the protocol of bash gives for the word at *place* of *words*."""
    asked = {**os.environ, "COMP_WORDS": words, "COMP_CWORD": str(place), VARIABLE: "bash_complete"}
    run = [sys.executable, "-m", "scalegraph.cli.main"]
    done = subprocess.run(run, env=asked, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [line for line in done.stdout.splitlines() if line]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "place", "found"),
    [
        ("scalegraph exp", 1, ["file,exp", "plain,explain", "plain,export"]),
        ("scalegraph export a.sgtrace --view trace-f", 4, ["plain,trace-flame", "plain,trace-flame-difference"]),
        ("scalegraph export a.sgstudy --view trace-f", 4, []),
        ("scalegraph export a.sgstudy --view flame --option ic", 6, ["plain,icicle="]),
        ("scalegraph export a.sgstudy --par", 3, ["plain,--partial"]),
        ("scalegraph export a.sg", 2, ["file,a.sg"]),
        ("scalegraph export a.sgstudy -o ", 4, ["file,"]),
        ("scalegraph simulate -m ks", 3, ["file,ks", "plain,ksr1"]),
        ("scalegraph simulate billi", 2, ["file,billi", "plain,billiard", "plain,billiard-linked"]),
        ("scalegraph machines show cerb", 3, ["file,cerb", "plain,cerberus"]),
        ("scalegraph analyze a.sgstudy --what karp", 4, ["plain,karp-flatt"]),
        ("scalegraph matrix a --bound eff", 4, ["plain,efficiency"]),
        ("scalegraph trace con", 2, ["plain,convert"]),
        ("scalegraph trace convert a -o b --to para", 7, ["plain,paraver"]),
        ("scalegraph report a.sgstudy --views time,spee", 4, ["plain,time,speedup"]),
        ("scalegraph nothing --h", 2, ["plain,--help"]),
    ],
)
def test_words_are_completed_with_what_fits_there(words: str, place: int, found: list[str]) -> None:
    assert sorted(answers(words, place)) == sorted(found)


@pytest.mark.slow
def test_completing_imports_none_of_the_analyses() -> None:
    code = (
        "import json, os, sys\n"
        f"os.environ.update(COMP_WORDS='scalegraph export a --view fl', COMP_CWORD='4', {VARIABLE}='bash_complete')\n"
        "from scalegraph.cli.main import run\n"
        "run([])\n"
        "print(json.dumps(sorted(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *shown, modules = done.stdout.splitlines()
    assert shown == ["plain,flame", "plain,flame-difference"]
    loaded = set(json.loads(modules))
    assert not loaded & {"numpy", "pandas", "pydantic", "scipy", "rich", "scalegraph.request", "scalegraph.views"}


@pytest.mark.slow
def test_bash_completes(command: dict[str, str], root: Path) -> None:
    script = root / "share" / "bash-completion" / "completions" / "scalegraph"
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    asks = f"source {script}; complete -p scalegraph; compopt() {{ :; }}; COMP_WORDS=(scalegraph matr) COMP_CWORD=1;"
    asks += ' _scalegraph_completion scalegraph matr scalegraph; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run([bash, "--norc", "-c", asks], env=command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["complete -o nosort -F _scalegraph_completion scalegraph", "matrix"], (
        done.stderr
    )


def test_fish_completes(command: dict[str, str], root: Path) -> None:
    fish = shutil.which("fish")
    if fish is None:
        pytest.skip("fish is not installed")
    script = root / "share" / "fish" / "vendor_completions.d" / "scalegraph.fish"
    asks = f"source {script}; complete -C 'scalegraph matr'"
    done = subprocess.run([fish, "--no-config", "-c", asks], env=command, capture_output=True, text=True, check=False)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["matrix"], done.stderr


def test_zsh_completes(command: dict[str, str], root: Path) -> None:
    zsh = shutil.which("zsh")
    if zsh is None:
        pytest.skip("zsh is not installed")
    script = root / "share" / "zsh" / "site-functions" / "_scalegraph"
    asks = (
        "compdef() { :; }; compadd() { :; }; _path_files() { :; }; "
        '_describe() { print -l -- "${(@)completions_with_descriptions}"; }; '
        f"source {script}; words=(scalegraph matr); CURRENT=2; _scalegraph_completion"
    )
    done = subprocess.run([zsh, "-f", "-c", asks], env=command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1].startswith("matrix:Compute"), done.stderr


COMPILERS = {
    "scalegraph-cc": "gcc",
    "scalegraph-c++": "g++",
    "scalegraph-fc": "gfortran",
    "scalegraph-gcc": "gcc",
    "scalegraph-g++": "g++",
    "scalegraph-gfortran": "gfortran",
    "scalegraph-mpicc": "gcc",
    "scalegraph-mpicxx": "g++",
    "scalegraph-mpifort": "gfortran",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILERS)
def test_bash_completes_a_compiler_as_the_one_whose_command_line_it_takes(name: str, share: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    script, behind = share / "bash-completion" / "completions" / name, COMPILERS[name]
    ways = {
        f"_comp_load() {{ complete -F _loaded $1; }}; source {script}": f"complete -F _loaded {name}",
        f"complete -F _known {behind}; source {script}": f"complete -F _known {name}",
        f"source {script}": f"complete -o bashdefault -o default {name}",
    }
    for way, wanted in ways.items():
        asks = [bash, "--norc", "-c", f"{way}; complete -p {name}"]
        done = subprocess.run(asks, capture_output=True, text=True, check=False)
        assert (done.stdout.strip(), done.stderr) == (wanted, "")


@pytest.mark.slow
def test_fish_completes_a_compiler_as_the_one_whose_command_line_it_takes(share: Path) -> None:
    fish = shutil.which("fish")
    if fish is None:
        pytest.skip("fish is not installed")
    for name, behind in COMPILERS.items():
        script = share / "fish" / "vendor_completions.d" / f"{name}.fish"
        asks = f"complete --command {behind} --long-option of-the-compiler; source {script}; complete -C '{name} --of-'"
        done = subprocess.run([fish, "--no-config", "-c", asks], capture_output=True, text=True, check=False)
        assert "--of-the-compiler" in done.stdout, done.stderr


@pytest.mark.slow
def test_zsh_completes_a_compiler_as_the_one_whose_command_line_it_takes(share: Path) -> None:
    zsh = shutil.which("zsh")
    if zsh is None:
        pytest.skip("zsh is not installed")
    functions = share / "zsh" / "site-functions"
    asks = f"fpath=({functions} $fpath); autoload -Uz compinit; compinit -D -u;"
    asks += "".join(f' print -- "${{_comps[{name}]}} ${{_services[{name}]}}";' for name in COMPILERS)
    done = subprocess.run([zsh, "-f", "-c", asks], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [f"_scalegraph-cc {behind}" for behind in COMPILERS.values()], done.stderr
