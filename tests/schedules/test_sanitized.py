"""The native library of schedules under gcc's sanitizers; the full count is ``python -m tests.schedules.sanitized``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.schedules import sanitized
from tests.schedules.generated import HEAD, TAIL

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

LOOP = """
#pragma omp parallel
  {
#pragma omp for schedule(dynamic)
  for (int i = 0; i < 3000; i++) seen[i]++;
#pragma omp for schedule(dynamic)
  for (int i = 0; i < 3000; i++) seen[i]++;
  }
  bad += check(3000, 2);
"""

# Errors that a sanitizer must report, injected into the library by a header included before its sources.
FAULTS = {
    "thread": (
        (
            "#undef __ATOMIC_ACQUIRE\n#define __ATOMIC_ACQUIRE __ATOMIC_RELAXED\n"
            "#undef __ATOMIC_RELEASE\n#define __ATOMIC_RELEASE __ATOMIC_RELAXED\n"
        ),
        "data race",
    ),
    "address": (
        "#include <stdlib.h>\n#define aligned_alloc(alignment, size) (aligned_alloc)((alignment), (size) - 128)\n",
        "heap-buffer-overflow",
    ),
}


@pytest.fixture(params=sorted(sanitized.FLAGS))
def kind(request: pytest.FixtureRequest) -> str:
    """Return each sanitizer that the compiler has."""
    if not sanitized.has_sanitizer(request.param):
        pytest.skip("the compiler has no sanitizers (apt-get install libgcc-12-dev)")
    return str(request.param)


@pytest.mark.parametrize("seed", range(3))
def test_generated_programs_have_no_fault(tmp_path: Path, kind: str, seed: int) -> None:
    assert sanitized.check(seed, kind, tmp_path, runs=3) == []


def test_a_fault_of_the_library_is_reported(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail: without lock ordering, and with too little memory, the sanitizers report errors."""
    header, said = tmp_path / "fault.h", FAULTS[kind][1]
    header.write_text(FAULTS[kind][0])
    monkeypatch.setitem(sanitized.FLAGS, kind, [*sanitized.FLAGS[kind], "-include", str(header)])
    (found,) = sanitized.complaints(HEAD + LOOP + TAIL, kind, tmp_path, ["ML"], 4)
    assert said in found
