from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from scalegraph.base import toml
from scalegraph.base.errors import InputError


class Cache(BaseModel):
    model_config = ConfigDict(extra="forbid")
    size: int
    ways: int = 2


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    clock: float
    cache: list[Cache] = []
    net: Cache | None = None


def faults(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        toml.load_model(Model, text, "f.toml")
    return [str(fault) for fault in caught.value.faults]


def test_all_faults_are_told_at_once_with_place_and_near_match() -> None:
    text = 'nme = "x"\nclock = "a"\n[[cache]]\nsize = 1\n[[cache]]\nsiz = 3\nways = "q"\n[net]\nsize = 1\nwayz = 2\n'
    told = faults(text)
    assert "f.toml: name: is missing" in told
    assert "f.toml:1:1: nme: unknown key 'nme'; did you mean 'name'?" in told
    assert "f.toml:6:1: cache.1.siz: unknown key 'siz'; did you mean 'size'?" in told
    assert "f.toml:10:1: net.wayz: unknown key 'wayz'; did you mean 'ways'?" in told
    assert any(line.startswith("f.toml:2:1: clock: input should be a valid number") for line in told)
    assert any(line.startswith("f.toml:7:1: cache.1.ways:") for line in told)
    assert len(told) == 7


def test_a_syntax_error_names_its_line() -> None:
    assert faults('name = "x"\nclock = \n')[0].startswith("f.toml:2:")


def test_a_key_inside_a_dotted_or_inline_table_has_a_place() -> None:
    assert "f.toml:3:7: net.wayz: unknown key" in faults('name="x"\nclock=1\nnet={ wayz=1, size=2 }\n')[0]
    assert "f.toml:3:1: net.wayz: unknown key" in faults('name="x"\nclock=1\nnet.wayz=1\nnet.size=2\n')[0]


def test_an_unreadable_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        toml.read_text(tmp_path / "absent.toml")
    with pytest.raises(InputError, match="is a directory"):
        toml.read_text(tmp_path)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        toml.read_text(binary)


@pytest.mark.slow
@given(st.text(max_size=80))
def test_no_text_makes_it_fail_in_another_way(text: str) -> None:
    with suppress(InputError):
        toml.load_model(Model, text, "f.toml")
