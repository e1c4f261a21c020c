"""Tampered ScaleGraph data in an executable is reported in a sentence, never by an internal error."""

from __future__ import annotations

import base64
import json
import random
import struct
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.errors import InputError
from scalegraph.control import build
from scalegraph.instrument import units
from scalegraph.instrument.blocks import block_table
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


def test_a_section_longer_than_the_file_is_not_allocated(tmp_path: Path) -> None:
    data = bytearray(executable(unit_section()))
    table = int.from_bytes(data[40:48], "little")
    data[table + 2 * 64 + 36] = 1  # sh_size of the third section: 4 GiB more
    path = tmp_path / "a.out"
    path.write_bytes(data)
    tracemalloc.start()
    try:
        assert "is longer than it" in refusal(path)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("seed", range(200))
def test_values_of_any_kind_are_a_unit_or_a_sentence(seed: int, tmp_path: Path) -> None:
    document = json.dumps(damage.mutated(WHOLE, random.Random(seed))).encode()
    path = made(tmp_path, packed(document))
    assert damage.tried(read_units, path) in ("read", "refused")


@pytest.mark.slow
@pytest.mark.compiler
def test_damage_of_a_whole_program_is_a_sentence_or_a_result(tmp_path: Path) -> None:
    source, path = tmp_path / "a.c", tmp_path / "a.out"
    source.write_text("int main(void)\n{\n#pragma omp parallel\n  ;\n  return 0;\n}\n")
    whole = build([source]).executable.read_bytes()
    sections, chance = int.from_bytes(whole[40:48], "little"), random.Random(4)

    def use(file: Path) -> None:
        read_units(file)
        block_table(file)

    places = [*range(34, 58, 2), 42, *(chance.randrange(sections, len(whole)) for _ in range(20))]
    for number, byte in enumerate(places):
        path.write_bytes(damage.damaged(whole, ("flip", "zero")[number % 2], byte))
        assert damage.tried(use, path) in ("read", "refused"), byte
