"""Shared by all tests: nothing outside the test's own directories is read or written."""

import contextlib
import hashlib
import os
import re
import shlex
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from filelock import FileLock, Timeout
from hypothesis import settings

import scalegraph
from scalegraph.base.host import INSTALL_QT
from scalegraph.cli import collecting

# Continuous integration uses the same examples every time, a developer's machine new ones. Neither has a time limit per
# example, because the time only shows how busy the machine is.
settings.register_profile("patient", deadline=None)
settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "patient")

# Without bytecode on disk, every worker would rewrite all assertions again, and every command that a test starts would
# compile the whole package. That would take most of the time of many tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# As in commands. What a collection would scan is mostly modules and tests, and took a tenth of the time of quick tests.
collecting.seldom()

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("MPLBACKEND", "agg")
os.environ["PYTEST_QT_API"] = "pyside6"

try:
    import PySide6.QtWidgets  # noqa: F401 - looked for, not used
except ImportError as error:
    NO_QT = str(error)
    collect_ignore = ["gui"]
else:
    NO_QT = ""
    pytest_plugins = ["pytestqt.plugin"]


def pytest_report_header() -> str | None:
    """Report what is skipped if Qt's system libraries are missing."""
    return f"tests/gui is left out, Qt cannot be loaded ({NO_QT}): {INSTALL_QT}" if NO_QT else None


@pytest.fixture(scope="session")
def root() -> Path:
    """Top of the checkout."""
    return Path(__file__).parent.parent


# Cache entries built from our sources alone: they outlive the session, and concurrent sessions build them once.
BUILT_ONCE = ("runtime", "objects", "loops", "monitor", "drivers", "pipeline", "compilers", "assemblers")
# Cache entries built from test programs. They are kept until one of the packages in BUILDERS changes.
BUILDS = ("builds", "plain", "timing", "programs")
BUILDERS = ("base", "runtime", "machine", "toolchain", "instrument", "link", "control")
_ALL_SLOW = re.compile(rb"^pytestmark = .*\bpytest\.mark\.slow\b", re.MULTILINE)
KEPT_STATES = 2  # states of these packages to keep: before a change and after it
IN_USE_S = 2 * 3600.0  # a state used this recently may belong to a session that is still running


def kept_cache() -> Path:
    """Return the directory of files that outlive the session."""
    return Path(os.environ.get("SCALEGRAPH_TEST_CACHE") or platformdirs.user_cache_dir("scalegraph-tests"))


def kept_builds() -> Path:
    """Return the directory of builds for the current state of the packages; delete those of states long unused."""
    digest = hashlib.sha256()
    package = Path(scalegraph.__file__).parent
    for path in sorted(path for name in BUILDERS for path in (package / name).rglob("*.*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"{path.relative_to(package)}\0".encode() + path.read_bytes())
    states = kept_cache() / "states"
    state = states / digest.hexdigest()[:24]
    for name in BUILDS:
        (state / name).mkdir(parents=True, exist_ok=True)
        (state / name / ".tidied").touch()  # a suite builds more than a user's cache keeps
    state.touch()
    used = {path: path.stat().st_mtime for path in states.iterdir()}
    for path in sorted(used, key=lambda path: -used[path])[KEPT_STATES:]:
        if time.time() - used[path] > IN_USE_S:
            shutil.rmtree(path, ignore_errors=True)
    return state


def linked(cache: Path, kept: Path, names: Iterable[str]) -> Path:
    """Return *cache*, with its entries *names* linked to those in the directory *kept*."""
    cache.mkdir(parents=True, exist_ok=True)
    for name in names:
        (kept / name).mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):  # another worker was first
            (cache / name).symlink_to(kept / name)
    return cache


def with_simulator(cache: Path) -> Path:
    """Return *cache*, a new directory in which only the simulator is built already."""
    return linked(cache, kept_cache(), BUILT_ONCE)


@contextlib.contextmanager
def _place(node: pytest.Item | pytest.Collector, factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield the directory of *node*, empty at first, with the same path in every session.

    A build is cached by the paths of its sources, so with constant paths a later session finds this session's builds.
    If another session runs the same test, or the user named the base directory, the path is any new directory. It does
    not contain the test's name, because its words would then appear in messages that quote the path.
    """
    users = [path for path in factory.getbasetemp().parents if path.name.startswith("pytest-of-")]
    if not users:
        yield factory.mktemp("test")
        return
    digest = hashlib.sha256(f"{node.config.rootpath}\0{node.nodeid}".encode(errors="replace")).hexdigest()
    letters = "".join(
        chr(ord("a") + int(digit, 16)) for digit in digest[:16]
    )  # numbers in a file's name may be read as parameters
    place = users[0] / "scalegraph" / letters
    place.parent.mkdir(mode=0o700, exist_ok=True)
    try:
        with FileLock(place.with_name(f".{place.name}"), timeout=0):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(mode=0o700)
            yield place
    except (Timeout, FileExistsError):  # or its contents cannot be removed
        yield factory.mktemp("test")


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Directory of one test."""
    with _place(request.node, tmp_path_factory) as place:
        yield place


@pytest.fixture(scope="module")
def module_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Directory shared by all tests of a file, so that what several of them need is built once."""
    with _place(request.node, tmp_path_factory) as place:
        yield place


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cache of the whole test run, shared by its workers; not the user's."""
    base = tmp_path_factory.getbasetemp()
    cache = with_simulator((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache")
    linked(cache, kept_builds(), BUILDS)
    os.environ["SCALEGRAPH_CACHE"] = str(cache)
    os.environ["XDG_STATE_HOME"] = str(base / "state")  # what was approved to run
    return cache


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cache of one test, in which only the simulator is built."""
    cache = with_simulator(tmp_path / "cache")
    monkeypatch.setenv("SCALEGRAPH_CACHE", str(cache))
    return cache


def pytest_configure(config: pytest.Config) -> None:
    """Make each worker start collecting at a different directory.

    Workers share compiled files. If all started at the same file, all would compile the same files at once.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args not in (["tests"], [str(config.rootpath / "tests")]):
        return
    parts = sorted(str(path) for path in (config.rootpath / "tests").iterdir() if any(path.glob("test_*.py")))
    first = len(parts) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    config.args[:] = parts[first:] + parts[:first]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """If only quick tests are wanted, do not even load files with slow ones only: loading dominates collection."""
    if config.getoption("markexpr") != "not slow" or collection_path.suffix != ".py":
        return None
    return True if _ALL_SLOW.search(collection_path.read_bytes()) else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start one worker more than there are processors, because each worker sometimes waits for other processes.

    With two more, the same tests took 15 % more processor time without a gain: no processor was idle before.
    """
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give every worker whole files, so that fixtures shared by a file's tests are made once."""
    from xdist.scheduler import LoadFileScheduling

    if config.getoption("dist") != "load":
        return None
    config.option.loadscopereorder = False  # it would put the files with the most tests first, which are quick
    return LoadFileScheduling(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that lifts the budgets of `pytest.mark.few`."""
    parser.addoption("--all-cases", action="store_true", help="run every case of tests that are marked few(n)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep long tests within their budgets; skip tests that need a compiler if there is none.

    Files with the longest slow tests come first and files with quick tests last, so that no worker is left alone with
    a long file at the end.
    """
    if not config.getoption("--all-cases"):
        beyond = _beyond_budget(items)
        config.hook.pytest_deselected(items=[item for item in items if item in beyond])
        items[:] = [item for item in items if item not in beyond]
    slow: Counter[Path] = Counter()
    for item in items:
        if marker := item.get_closest_marker("slow"):
            slow[item.path] += marker.args[0] if marker.args else 1
    items.sort(key=lambda item: (-slow[item.path], item.path))  # stable: the order within a file stays
    if shutil.which((shlex.split(os.environ.get("CC", "")) or ["gcc"])[0]) is None:
        for item in items:
            if item.get_closest_marker("compiler"):
                item.add_marker(pytest.mark.skip(reason="needs gcc: apt-get install gcc libc6-dev"))


def _beyond_budget(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the cases of long tests that run only with --all-cases.

    A test marked few(n) runs n cases, spread evenly over all selected ones; a single case selected by name always runs.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("few"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    beyond: set[pytest.Item] = set()
    for found in cases.values():
        marker = found[0].get_closest_marker("few")
        assert marker is not None
        (count,) = marker.args
        if len(found) > count:
            kept = {found[at * (len(found) - 1) // max(count - 1, 1)] for at in range(count)}
            beyond |= set(found) - kept
    return beyond
