"""Untrustworthy result files are refused with a sentence."""

from pathlib import Path

import numpy as np
import pytest

from scalegraph.runtime.format import COST, ENDIAN_MARK, HEADER, RESULT_MAGIC, SECTION, VERSION
from scalegraph.runtime.results import ResultError, read_result, write_config


def result_file(path: Path, *, version: int = VERSION, endian: int = ENDIAN_MARK, magic: bytes = RESULT_MAGIC) -> bytes:
    meta = b"status ok\nmessage \ntime_cycles 7\nwarnings one; two\n"
    costs = np.zeros(2, COST)
    costs["processor"] = [0, 1]
    costs["categories"][:, 0] = 7
    header = np.array([(magic, version, endian, 0, 3)], HEADER)
    start = HEADER.itemsize + 3 * SECTION.itemsize
    sections = np.array([(1, 1, len(meta), start), (2, COST.itemsize, 2, start + len(meta)), (77, 1, 0, 0)], SECTION)
    data = header.tobytes() + sections.tobytes() + meta + costs.tobytes()
    path.write_bytes(data)
    return data


def test_result_is_read(tmp_path: Path) -> None:
    result_file(tmp_path / "r")
    result = read_result(tmp_path / "r")
    assert result.meta == {"status": "ok", "message": "", "time_cycles": "7", "warnings": "one; two"}
    assert result.costs["categories"][:, 0].tolist() == [7, 7]
    assert len(result.sites) == len(result.waits) == 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"magic": b"ELFELFEL"}, "is not a file of the simulator"),
        ({"version": VERSION + 1}, f"has format version {VERSION + 1}, this program reads up to {VERSION}; update"),
        ({"endian": 0x04030201}, "another byte order"),
    ],
)
def test_foreign_files_are_refused(tmp_path: Path, changes: dict[str, int], words: str) -> None:
    result_file(tmp_path / "r", **changes)  # type: ignore[arg-type]
    with pytest.raises(ResultError, match=words):
        read_result(tmp_path / "r")


def test_file_cut_short_anywhere_is_refused(tmp_path: Path) -> None:
    data = result_file(tmp_path / "r")
    for length in range(0, len(data), 13):
        (tmp_path / "r").write_bytes(data[:length])
        with pytest.raises(ResultError, match="cut short"):
            read_result(tmp_path / "r")


def test_missing_result_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_result(tmp_path / "none")


def test_configuration_is_one_pair_a_line(tmp_path: Path) -> None:
    write_config(tmp_path / "c", {"run.processors": "4", "run.schedule": "dynamic,4"})
    assert (tmp_path / "c").read_text() == "run.processors 4\nrun.schedule dynamic,4\n"
    with pytest.raises(ValueError, match="line break"):
        write_config(tmp_path / "c", {"run.result_path": "a\nb"})
