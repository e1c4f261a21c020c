"""What is installed beside the package: menu entry, icon, file types, manual pages, and that the wheel holds it."""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from scalegraph.base.events import Building, Event, builds_shown
from scalegraph.cli.main import COMMANDS
from scalegraph.runtime import objects
from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.library import library

ID = "scalegraph"


@pytest.fixture(scope="module")
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the wheel and the source distribution, built without network access."""
    place = tmp_path_factory.mktemp("dist")
    pytest.importorskip("hatchling", reason="pip install -e '.[dev]'")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(place)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return place


def below(share: Path) -> set[str]:
    return {str(path.relative_to(share)) for path in share.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_the_wheel_installs_everything_below_share(built: Path, share: Path, root: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        tutorial = archive.read("scalegraph/resources/help/TUTORIAL.md").decode()
        metadata = archive.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
    inside = {name.partition(".data/data/share/")[2] for name in names if ".data/data/share/" in name}
    assert inside == below(share) | {"icons/hicolor/scalable/apps/scalegraph.svg"}
    assert {
        "man/man1/scalegraph.1",
        "man/man1/scalegraph-simulate.1",
        "applications/scalegraph.desktop",
        "mime/packages/scalegraph.xml",
        "bash-completion/completions/scalegraph",
        "bash-completion/completions/scalegraph-cc",
        "zsh/site-functions/_scalegraph",
        "fish/vendor_completions.d/scalegraph.fish",
    } <= inside
    assert tutorial == (root / "docs" / "TUTORIAL.md").read_text()  # in the repository a symbolic link
    assert "scalegraph/cli/completion/words.json" in names
    assert "scalegraph/resources/icons/scalegraph.svg" in names
    for title in ("Homepage", "Documentation", "Changelog", "Issues"):
        assert f"Project-URL: {title}, https://" in metadata


@pytest.mark.slow
def test_the_wheel_has_every_source_of_the_runtime(built: Path, root: Path) -> None:
    """The user's computer needs these files to compile programs for the simulator and for the host itself."""
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    runtime = root / "scalegraph" / "runtime"
    sources = {str(path.relative_to(root)) for path in runtime.rglob("*") if path.suffix in (".c", ".h", ".flags")}
    assert any(name.startswith("scalegraph/runtime/native/") and name.endswith(".c") for name in sources)
    assert any(name.startswith("scalegraph/runtime/csrc/schedules/kinds/") for name in sources)
    assert sources <= names


@pytest.mark.slow
@pytest.mark.compiler
def test_the_first_command_after_installing_compiles_nothing_of_the_simulator(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    monkeypatch.setattr(objects, "SHIPPED", tmp_path / "scalegraph" / "runtime" / "compiled")
    monkeypatch.setenv("SCALEGRAPH_CACHE", str(tmp_path / "cache"))
    seen: list[Event] = []
    runtime = library(find_compiler(), seen.append)
    with builds_shown(seen.append):
        assert runtime.mpi().exists()
    counts = [(event.done, event.of) for event in seen if isinstance(event, Building)]
    assert len(counts) == 2
    assert all(done == of for done, of in counts)


@pytest.mark.slow
def test_a_wheel_is_built_without_a_compiler(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("hatchling", reason="pip install -e '.[dev]'")
    monkeypatch.setenv("CC", "no-such-compiler")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if name.startswith("scalegraph/runtime/compiled/")]


@pytest.mark.slow
def test_the_sources_are_packed_with_what_makes_them(built: Path, root: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {f"share/{name}" for name in below(root / "share")} <= names
    assert {"hatch_build.py", "docs/make_share.py", "docs/man_pages.py"} <= names


@pytest.mark.slow
def test_an_isolated_build_has_what_the_commands_import(root: Path) -> None:
    code = "import hatch_build, json; print(json.dumps(hatch_build.get_requires_for_build_wheel()))"
    pytest.importorskip("hatchling", reason="pip install -e '.[dev]'")
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    needed = {re.split(r"[<>=;\s]", one)[0].lower() for one in json.loads(done.stdout)}
    assert {"click", "numpy", "pandas", "pydantic"} <= needed
    assert not {"pyside6-essentials", "pyqtgraph", "matplotlib"} & needed


@pytest.mark.slow
def test_manual_pages_and_words_are_made_without_what_an_isolated_build_lacks(root: Path, tmp_path: Path) -> None:
    code = (
        "import sys, runpy; sys.modules |= dict.fromkeys(('PySide6', 'pyqtgraph', 'matplotlib'));"
        " runpy.run_path('docs/make_share.py', None, '__main__')"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=root, check=True)
    assert (tmp_path / "words.json").exists()


@pytest.mark.slow
def test_every_command_and_compiler_has_a_manual_page(share: Path) -> None:
    pages = {path.name for path in (share / "man" / "man1").iterdir()}
    assert {f"scalegraph-{name}.1" for name in COMMANDS} <= pages
    assert {
        "scalegraph.1",
        "scalegraph-cc.1",
        "scalegraph-c++.1",
        "scalegraph-fc.1",
        "scalegraph-mpicc.1",
        "scalegraph-mpicxx.1",
        "scalegraph-mpifort.1",
        "scalegraph-trace-info.1",
    } <= pages


@pytest.mark.slow
def test_manual_pages_are_read_without_a_warning(share: Path) -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not installed")
    for page in sorted((share / "man" / "man1").iterdir()):
        command = [groff, "-ww", "-man", "-Tutf8", "-z", str(page)]
        done = subprocess.run(command, cwd=share / "man", capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), page.name


def test_the_menu_entry_opens_the_files_that_are_described(root: Path) -> None:
    path = root / "share" / "applications" / f"{ID}.desktop"
    entry = configparser.RawConfigParser(delimiters="=")
    entry.optionxform = str  # type: ignore[assignment, method-assign]
    entry.read(path, "utf-8")
    values = entry["Desktop Entry"]
    assert values["Exec"] == "scalegraph %F"
    assert values["Icon"] == values["StartupWMClass"] == ID
    space = "{http://www.freedesktop.org/standards/shared-mime-info}"
    types = ET.parse(root / "share" / "mime" / "packages" / "scalegraph.xml").getroot()
    patterns = {kind.get("type"): kind.find(f"{space}glob").get("pattern") for kind in types}  # type: ignore[union-attr]
    assert patterns == {"application/x-scalegraph-study": "*.sgstudy", "application/x-scalegraph-trace": "*.sgtrace"}
    assert values["MimeType"] == "".join(f"{name};" for name in patterns)
    (about,) = (root / "share" / "metainfo").iterdir()
    launched = ET.parse(about).getroot().find("launchable")
    assert launched is not None
    assert launched.text == path.name


@pytest.mark.parametrize(
    "command",
    [
        ["desktop-file-validate", "share/applications/scalegraph.desktop"],
        ["appstreamcli", "validate", "--no-net", "share/metainfo/io.github.scalegraph.ScaleGraph.metainfo.xml"],
    ],
)
def test_the_desktop_accepts_what_it_is_told(command: list[str], root: Path) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_studies_and_traces_are_recognised_by_what_is_in_them(root: Path, tmp_path: Path) -> None:
    """As a desktop does: by the leading bytes that the file types declare."""
    space = "{http://www.freedesktop.org/standards/shared-mime-info}"
    kinds = ET.parse(root / "share" / "mime" / "packages" / "scalegraph.xml").getroot()
    files = {
        "application/x-scalegraph-study": root / "tests" / "store" / "format2.sgstudy",
        "application/x-scalegraph-trace": root / "traces" / "pipeline.sgtrace",
    }
    for kind in kinds:
        content = files[str(kind.get("type"))].read_bytes()[:4096]
        for match in kind.iter(f"{space}match"):
            wanted = str(match.get("value")).encode().decode("unicode_escape").encode()
            start = int(str(match.get("offset")))
            assert content[start : start + len(wanted)] == wanted
    if shutil.which("update-mime-database"):
        (tmp_path / "packages").mkdir()
        shutil.copy(root / "share" / "mime" / "packages" / "scalegraph.xml", tmp_path / "packages")
        subprocess.run(["update-mime-database", str(tmp_path)], check=True, capture_output=True)
        assert "60:application/x-scalegraph-trace:*.sgtrace" in (tmp_path / "globs2").read_text()
