"""What ScaleGraph wrote into an executable, changed by somebody: a sentence, never an error of its own."""

from __future__ import annotations

import base64
import json
import random
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.errors import InputError
from scalegraph.instrument import units
from scalegraph.instrument.units import read_units
from tests.security import damage
from tests.security.formats import executable, unit_section

WHOLE: dict[str, Any] = {
    "directory": "/home/u",
    "file": "a.c",
    "text": "int x;\n",
    "instrumented": None,
    "regions": [{"id": 1, "kind": "function", "name": "main", "line": 1, "end_line": 2}],
    "remarks": ["one"],
}


def packed(document: bytes, tail: int = 0) -> bytes:
    text = base64.b64encode(zlib.compress(document)[: -tail or None])
    return struct.pack("<II", 1, len(text)) + text


def made(tmp_path: Path, section: bytes) -> Path:
    path = tmp_path / "a.out"
    path.write_bytes(executable(section))
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as refused:
        read_units(path)
    (fault,) = refused.value.faults
    assert fault.file == str(path)
    return fault.message


def test_an_executable_that_is_whole_is_read(tmp_path: Path) -> None:
    (one,) = read_units(made(tmp_path, unit_section()))
    assert (one.unit.file, one.unit.remarks) == ("a.c", ("a remark",))


def test_a_unit_that_unpacks_to_more_than_any_source_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units, "_MOST", 10_000)
    text = json.dumps({**WHOLE, "text": " " * 20_000}).encode()
    assert "damaged" in refusal(made(tmp_path, packed(text)))


def test_a_unit_that_is_cut_off_or_nested_is_refused(tmp_path: Path) -> None:
    whole = json.dumps(WHOLE).encode()
    for section in (packed(whole, tail=9), packed(b"[" * 200_000), packed(b"[1]"), packed(b"7"), packed(whole)[:-1]):
        assert "damaged" in refusal(made(tmp_path, section))


def test_a_compressed_section_is_not_unpacked(tmp_path: Path) -> None:
    data = bytearray(executable(unit_section()))
    table = int.from_bytes(data[40:48], "little")
    data[table + 2 * 64 + 8] |= 8  # sh_flags of the third section, 0x800 is SHF_COMPRESSED
    data[table + 2 * 64 + 9] |= 8
    path = tmp_path / "a.out"
    path.write_bytes(data)
    assert "compressed" in refusal(path)


@pytest.mark.parametrize("seed", range(200))
def test_values_of_any_kind_are_a_unit_or_a_sentence(seed: int, tmp_path: Path) -> None:
    document = json.dumps(damage.mutated(WHOLE, random.Random(seed))).encode()
    path = made(tmp_path, packed(document))
    assert damage.tried(read_units, path) in ("read", "refused")
