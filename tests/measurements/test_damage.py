"""A damaged copy of every format is refused in a sentence, or read completely: never half, never with another error."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError
from scalegraph.measurements.model import MeasurementSet, check
from scalegraph.measurements.reader import readers
from tests.measurements.samples import SAMPLES, write

CUTS = 50
FLIPS = 100
# Line-based formats: without its last lines a file is a complete file with fewer measurements, unless points are
# missing.
OF_LINES = ("lines", "talpas", "text", "gprof", "jube")
# Program outputs: they end with lines that are not read, and the other files of a directory are complete.
OF_PROGRAMS = ("program", "logs", "imb")


def victim(path: Path) -> Path:
    """Return the file to damage: the second of a directory."""
    return path if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())[1]


def attempt(name: str, path: Path) -> MeasurementSet | None:
    """Read *path*; return None if it is refused correctly."""
    refusal: InputError | None = None
    try:
        found = readers()[name].read(path, CancelToken(), lambda _: None)
    except InputError as error:
        refusal = error
    if refusal is not None:
        assert all(fault.file and fault.message and "\n" not in str(fault) for fault in refusal.faults)
        return None
    check(found)
    return found


def size(found: MeasurementSet) -> tuple[int, int, int]:
    left_out = sum(each.count for each in found.skipped)
    return len(found.points), len(found.metrics), len(found.values) + left_out


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_file_that_is_cut_off_is_refused(sample: str, tmp_path: Path) -> None:
    path = write(sample, tmp_path)
    name = SAMPLES[sample][0]
    whole = attempt(name, path)
    assert whole is not None
    damaged = victim(path)
    data = damaged.read_bytes()
    for cut in sorted({len(data) * step // CUTS for step in range(CUTS)}):
        damaged.write_bytes(data[:cut])
        found = attempt(name, path)
        if sample in OF_PROGRAMS:
            assert found is None or size(found) <= size(whole), f"cut at byte {cut} of {len(data)}"
        elif sample not in OF_LINES:
            lost = data[cut:].strip(b"\0\n")  # otherwise only padding of the file
            assert found is None or (not lost and size(found) == size(whole)), f"cut at byte {cut} of {len(data)}"
        elif found is not None:
            assert size(found) < size(whole), f"cut at byte {cut} of {len(data)}"


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES)
def test_flipped_bits_never_do_harm(sample: str, tmp_path: Path) -> None:
    path = write(sample, tmp_path)
    name = SAMPLES[sample][0]
    assert attempt(name, path) is not None
    damaged = victim(path)
    data = damaged.read_bytes()
    chance = random.Random(sample)
    for _ in range(FLIPS):
        copy = bytearray(data)
        for _ in range(chance.choice((1, 1, 1, 4))):
            copy[chance.randrange(len(copy))] ^= 1 << chance.randrange(8)
        damaged.write_bytes(copy)
        attempt(name, path)


@pytest.mark.parametrize("sample", SAMPLES)
def test_what_is_no_file_of_the_format_is_refused(sample: str, tmp_path: Path) -> None:
    name, _, _ = SAMPLES[sample]
    path = tmp_path / "x"
    for body in (b"", b"\0" * 2048, b"\n\n", b"{}", b"[]", b"null", b"{" * 100_000, b"\xff\xfe", b'{"parameters": []}'):
        if readers()[name].directory:
            path.mkdir(exist_ok=True)
            (path / "app.p2").mkdir(exist_ok=True)
            (path / "x.cali").write_bytes(body)
            (path / "app.p2" / "x.cubex").write_bytes(body)
            (path / "app.p2.csv").write_bytes(body)
        else:
            path.write_bytes(body)
        assert attempt(name, path) is None
    assert attempt(name, tmp_path / "not there") is None


@pytest.mark.slow
def test_an_archive_made_to_fill_memory_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "spaces.extra-p"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("experiment.json", "w") as member:
        for _ in range(300):
            member.write(b" " * (1 << 20))
    with pytest.raises(InputError, match=r"would unpack to 315 MB, more than 250 times its size"):
        readers()["extrap-experiment"].read(path, CancelToken(), lambda _: None)
