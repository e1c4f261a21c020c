"""Program text in a chosen folder is found by name, and by the longest matching end of the path."""

from __future__ import annotations

from pathlib import Path

from scalegraph.request.imports.sources import below
from scalegraph.traces.model import Region
from tests.views import traces


def test_of_files_with_one_name_the_one_with_the_named_path_is_found(tmp_path: Path) -> None:
    made = traces.builder(1)
    for number, file in enumerate(("/home/a/app/solver/main.c", "C:\\app\\io\\main.c", "gone.c", "MPI")):
        line = 0 if file == "MPI" else 3
        made.region(number, lambda file=file, line=line: Region(file, file, line))
    for place in ("main.c", "solver/main.c", "io/main.c", ".git/gone.c", "MPI"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text("")
    found = below(traces.finish(made).trace, tmp_path)
    assert found == {
        "/home/a/app/solver/main.c": tmp_path / "solver" / "main.c",
        "C:\\app\\io\\main.c": tmp_path / "io" / "main.c",
    }
