"""Shared by all tests: nothing outside the test's own directories is read or written."""

import os
import shutil
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("MPLBACKEND", "agg")


@pytest.fixture(scope="session")
def root() -> Path:
    """Top of the checkout."""
    return Path(__file__).parent.parent


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cache of the whole test run, shared by its workers; not the user's."""
    base = tmp_path_factory.getbasetemp()
    cache = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"
    os.environ["SCALEGRAPH_CACHE"] = str(cache)
    return cache


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a compiler where there is none."""
    if shutil.which(os.environ.get("CC", "gcc")) is None:
        for item in items:
            if item.get_closest_marker("compiler"):
                item.add_marker(pytest.mark.skip(reason="needs gcc: apt-get install gcc libc6-dev"))
