"""A sample of what `tests.security.run_damage` does for hours: damage outside and inside, of every format."""

from __future__ import annotations

import random
import resource
import shutil
from pathlib import Path

import pytest

from tests.security import damage, fields
from tests.security.samples import full_study
from tests.traces.made import small
from tests.traces.samples import pipeline
from tests.traces.test_formats import written

PLACES = 12  # positions in each sample
SLOW = ("trace own a.otf2", "trace otf2", "measurements cube", "measurements cube-attached")
SEEDS = range(12)
# Earlier failures: seeds of changes inside a study and a trace.
STUDIES, TRACES = (19, 43, 57, 69, 1034, 7197), (1005, 1022, 2181, 2398)
MEMORY_KIB = 300 << 10  # most that damage may add to the peak memory


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


FIELDS = 4  # changes to each file of a sample
# Earlier failures by sample and position, see `tests.security.fields`.
ONCE = {
    "trace own a.sgtrace": (
        "calls.region[0] is -2",
        "shares.region[0] is -2",
        "waits.end[0] is -9223372036854775808",
        "messages.size[0] is 9223372036854775807",
        "shares.region[0] is 1000",
    ),
    "trace own a.prv": ("number 0 at 257 is '18446744073709551615'",),
    "measurements older": (r"value parameters.0.id is 'a\nb'",),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in damage.samples() if name not in SLOW])
def test_a_number_changed_inside_is_a_sentence_or_a_result(name: str, tmp_path: Path) -> None:
    """A sample of what benchmarks/damaged_fields.py does at length; checksums are correct."""
    make, use = damage.samples()[name]
    path = make(tmp_path)
    kinds = {file.name: file for file in sorted(tmp_path.rglob("*")) if file.is_file()}
    for file in kinds.values():
        whole = file.read_bytes()
        for said, change in fields.chosen(whole, FIELDS, 3):
            file.write_bytes(change())
            assert damage.tried(use, path) in ("read", "refused"), (file.name, said)
        file.write_bytes(whole)


@pytest.mark.parametrize("name", ONCE)
def test_numbers_that_went_wrong_once_are_sentences_or_results(name: str, tmp_path: Path) -> None:
    make, use = fields.samples(whole=True)[name]
    path = make(tmp_path)
    known = dict(fields.changes(path.read_bytes()))
    for said in ONCE[name]:
        path.write_bytes(known[said]())
        assert damage.tried(use, path) in ("read", "refused"), said


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
    """Otherwise the reader would refuse the file before it looks inside."""
    path = written(pipeline(), tmp_path / "t.sgtrace")
    whole = path.read_bytes()
    read = 0
    for seed in range(40):
        path.write_bytes(damage.mutate_trace(whole, random.Random(seed)))
        read += damage.tried(damage.use_whole_trace, path) == "read"
    assert read >= 5
