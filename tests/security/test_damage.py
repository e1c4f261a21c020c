"""A sample of what `tests.security.run_damage` does for hours: damage outside and inside, of every format."""

from __future__ import annotations

import random
import resource
import shutil
from pathlib import Path

import pytest

from tests.security import damage
from tests.security.samples import full_study
from tests.traces.made import small
from tests.traces.samples import pipeline
from tests.traces.test_formats import written

PLACES = 12  # of each sample
SEEDS = range(12)
# What went wrong once: seeds of a study and of a trace that were changed inside.
STUDIES, TRACES = (19, 43, 57, 69, 1034, 7197), (1005, 1022, 2181, 2398)
MEMORY_KIB = 300 << 10  # what no damage may add to the most memory that was used


def most() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.mark.few(20)
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in damage.samples() if not name.startswith("trace own a.otf2")])
def test_damage_at_any_byte_is_a_sentence_or_a_result(name: str, tmp_path: Path) -> None:
    make, use = damage.samples()[name]
    path = make(tmp_path)
    assert damage.tried(use, path) == "read"
    files = {file: file.read_bytes() for file in sorted(tmp_path.rglob("*")) if file.is_file()}
    places = [(file, byte, way) for file, whole in files.items() for byte in range(len(whole)) for way in damage.WAYS]
    before = most()
    for file, byte, way in random.Random(name).sample(places, min(PLACES, len(places))):
        file.write_bytes(damage.damaged(files[file], way, byte))
        assert damage.tried(use, path) in ("read", "refused"), (file.name, way, byte)
        file.write_bytes(files[file])
    assert most() - before < MEMORY_KIB


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return full_study(tmp_path_factory.mktemp("study") / "whole.sgstudy")


@pytest.mark.few(6)
@pytest.mark.slow
@pytest.mark.parametrize("seed", [*STUDIES, *SEEDS])
def test_a_study_that_is_changed_inside_is_a_sentence_or_a_result(seed: int, study: Path, tmp_path: Path) -> None:
    path = tmp_path / "s.sgstudy"
    shutil.copy(study, path)
    assert damage.tried(damage.use_whole_study, path) in ("read", "refused")
    damage.mutate_study(path, random.Random(seed))
    assert damage.tried(damage.use_whole_study, path) in ("read", "refused")


@pytest.mark.parametrize("seed", [*TRACES, *SEEDS])
def test_a_trace_whose_checksums_are_right_is_a_sentence_or_a_result(seed: int, tmp_path: Path) -> None:
    path = written((small, pipeline)[seed % 2](), tmp_path / "t.sgtrace")
    path.write_bytes(damage.mutate_trace(path.read_bytes(), random.Random(seed)))
    assert damage.tried(damage.use_whole_trace, path) in ("read", "refused")


@pytest.mark.slow
def test_a_changed_trace_has_right_checksums(tmp_path: Path) -> None:
    """Else the reader refuses it before it looks at what is inside."""
    path = written(pipeline(), tmp_path / "t.sgtrace")
    whole = path.read_bytes()
    read = 0
    for seed in range(40):
        path.write_bytes(damage.mutate_trace(whole, random.Random(seed)))
        read += damage.tried(damage.use_whole_trace, path) == "read"
    assert read >= 5
