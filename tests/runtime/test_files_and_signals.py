"""Threads that communicate through files and signals behave as natively; waits that nothing can end are deadlocks."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.compiler]
Runner = Callable[..., Any]


@pytest.mark.parametrize("processors", [1, 3])
@pytest.mark.parametrize("program", ["files", "signals"])
def test_threads_that_wait_for_files_and_signals_do_what_they_do_natively(
    run: Runner, simulator: Any, program: str, processors: int
) -> None:
    outcome = run(program, processors)
    assert (outcome.status, outcome.stdout) == ("ok", simulator.native(program, processors))
