"""Programs that each behave in one particular way, built once for all tests."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from scalegraph import machine as machines
from scalegraph.base.cancel import CancelToken
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control import build
from scalegraph.link import Build, Job, Limits, Simulated

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="session")
def built() -> Callable[[str], Build]:
    """Return a function that builds the program of that name."""
    return functools.cache(lambda name: build([f"{name}.c"], cwd=PROGRAMS))


@pytest.fixture(scope="session")
def ksr1() -> machines.Machine:
    return machines.load("ksr1")


@pytest.fixture
def run(built: Callable[[str], Build], ksr1: machines.Machine) -> Callable[..., RunRecord]:
    """Return a function that runs the program of that name."""

    def run(
        name: str, processors: int = 2, *args: str, cancel: CancelToken | None = None, **options: object
    ) -> RunRecord:
        limits = Limits(**{"time_s": 60.0, **options.pop("limits", {})})  # type: ignore[dict-item]
        point = cast("RunPoint", options.pop("point", RunPoint(processors=processors)))
        return Simulated().run(Job(built(name), ksr1, point, args, limits=limits, **options), cancel)  # type: ignore[arg-type]

    return run
