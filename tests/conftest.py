"""Shared by all tests: nothing outside the test's own directories is read or written."""

import contextlib
import os
import shlex
import shutil
import sys
from pathlib import Path

import platformdirs
import pytest
from hypothesis import settings

from scalegraph.base.host import INSTALL_QT

# The same examples every time on a machine that decides whether a change lands; new ones on a developer's. Neither
# measures time: how long an example takes says how busy the machine is.
settings.register_profile("patient", deadline=None)
settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "patient")

# Without bytecode on disk every worker rewrites all assertions anew, and every command that a test starts compiles
# the whole package: most of the time of many tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

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
    """Say what is left out where Qt's system libraries are missing."""
    return f"tests/gui is left out, Qt cannot be loaded ({NO_QT}): {INSTALL_QT}" if NO_QT else None


@pytest.fixture(scope="session")
def root() -> Path:
    """Top of the checkout."""
    return Path(__file__).parent.parent


# What is made of the sources alone: it outlives the session, and sessions that start at once make it once.
BUILT_ONCE = ("runtime", "objects", "loops", "monitor", "drivers")


def with_simulator(cache: Path) -> Path:
    """Return *cache*, a new directory in which only the simulator is built already."""
    kept = Path(os.environ.get("SCALEGRAPH_TEST_CACHE") or platformdirs.user_cache_dir("scalegraph-tests"))
    cache.mkdir(parents=True, exist_ok=True)
    for name in BUILT_ONCE:
        (kept / name).mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):  # another worker was first
            (cache / name).symlink_to(kept / name)
    return cache


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cache of the whole test run, shared by its workers; not the user's."""
    base = tmp_path_factory.getbasetemp()
    cache = with_simulator((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache")
    os.environ["SCALEGRAPH_CACHE"] = str(cache)
    os.environ["XDG_STATE_HOME"] = str(base / "state")  # what was approved to run
    return cache


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cache of one test, in which only the simulator is built."""
    cache = with_simulator(tmp_path / "cache")
    monkeypatch.setenv("SCALEGRAPH_CACHE", str(cache))
    return cache


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a compiler where there is none."""
    if shutil.which((shlex.split(os.environ.get("CC", "")) or ["gcc"])[0]) is None:
        for item in items:
            if item.get_closest_marker("compiler"):
                item.add_marker(pytest.mark.skip(reason="needs gcc: apt-get install gcc libc6-dev"))
