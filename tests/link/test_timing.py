"""Block times on a machine with a pipeline are computed once per program and processor model, and cached."""

from pathlib import Path

import pytest

from scalegraph import machine
from scalegraph.control.build import build
from scalegraph.instrument import timed
from scalegraph.link.timing import timed_blocks
from scalegraph.machine import Machine

PROGRAM = """
int main(int count, char **words)
{
    int s = 0;
    for (int i = 0; i < count; i++)
        s += words[i][0];
    return s;
}
"""

pytestmark = [pytest.mark.slow, pytest.mark.compiler]


def pipelined(window: int) -> Machine:
    server = machine.load("server-2x32-inorder")
    processor = server.processor
    pipeline = processor.pipeline.model_copy(update={"window": window})
    return server.model_copy(update={"processor": processor.model_copy(update={"pipeline": pipeline})})


def test_it_is_found_once_for_each_program_and_processor(
    tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Path] = []
    real = timed.timed_table

    def counted(table: bytes, path: Path, *more: object) -> bytes:
        found.append(path)
        return real(table, path, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(timed, "timed_table", counted)
    source = tmp_path / "p.c"
    source.write_text(PROGRAM)
    program = build([source])
    first = timed_blocks(program, pipelined(64), None)
    assert first.read_bytes() == real(program.blocks.read_bytes(), program.executable, pipelined(64))
    assert timed_blocks(program, pipelined(64), None) == first
    assert len(found) == 1
    assert timed_blocks(program, pipelined(128), None) != first
    assert len(found) == 2
    source.write_text(PROGRAM.replace("s +=", "s -="))
    other = build([source])
    assert timed_blocks(other, pipelined(64), None) != first
    assert found[2:] == [other.executable]


def test_what_is_damaged_in_the_cache_is_found_again(
    tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "p.c"
    source.write_text(PROGRAM)
    program = build([source])
    kept = timed_blocks(program, pipelined(64), None)
    whole = kept.read_bytes()
    kept.write_bytes(b"damaged")
    assert timed_blocks(program, pipelined(64), None).read_bytes() == whole
