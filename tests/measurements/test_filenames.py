"""Several tables with the same columns: differences in their names become a parameter, unless they only count files."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.gui.imports.work import sources
from scalegraph.request.imports.sets import read_set

TABLE = "threads,time_s\n1,8.0\n2,4.2\n"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["openmp_results.csv", "mpi_results.csv"], {"file": ["openmp", "mpi"]}),
        (["gcc/t.csv", "clang/t.csv"], {"file": ["gcc", "clang"]}),
        (["heat_n1000.csv", "heat_n2000.csv"], {"n": [1000, 2000]}),
        (["omp-n10.csv", "mpi-n20.csv"], {"n": [10, 20], "file": ["omp", "mpi"]}),
        (["run1.csv", "run2.csv"], {}),
        (["times_1.csv", "times_2.csv"], {}),
        (["1.csv", "2.csv"], {}),
        (["slurm-4711.csv", "slurm-4712.csv"], {}),
        (["a_threads4.csv", "a_threads8.csv"], {}),
    ],
)
def test_what_names_of_files_say(tmp_path: Path, names: list[str], expected: dict[str, list[object]]) -> None:
    paths = [tmp_path / name for name in names]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_text(TABLE)
    measured = read_set(paths)
    assert measured.parameters == ("threads", *expected)
    assert {name: list(dict.fromkeys(measured.points[name])) for name in expected} == expected
    assert int(measured.values["repetition"].max()) == (0 if expected else 1)
    (source,) = sources(paths)
    assert source.paths == tuple(paths)


def test_tables_of_other_columns_are_studies_of_their_own(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.csv", "b.csv", "c.csv")]
    for path, text in zip(paths, (TABLE, "nodes,n,time_s\n1,10,8\n", TABLE), strict=True):
        path.write_text(text)
    assert sorted(len(source.paths) for source in sources(paths)) == [1, 2]
    with pytest.raises(InputError, match="has the parameters nodes, n"):
        read_set(paths)
