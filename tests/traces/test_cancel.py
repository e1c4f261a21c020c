from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled
from scalegraph.traces.formats import Writing, writers
from scalegraph.traces.reading import read
from tests.traces.made import small
from tests.traces.samples import CSV, FILES, PICL


@pytest.mark.parametrize("name", [name for name in (*FILES, PICL, CSV) if not name.endswith(".sgtrace")])
def test_reading_stops_when_it_is_told_to(root: Path, name: str) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        read(root / "traces" / name, cancel=token)


@pytest.mark.parametrize("name", [name for name in writers() if name != "otf2"])
def test_writing_stops_when_it_is_told_to_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    writer = writers()[name]
    with pytest.raises(Cancelled):
        writer.write(Writing(small(), tmp_path / f"a{writer.endings[0]}", token))
    assert list(tmp_path.iterdir()) == []


def test_progress_goes_up_to_the_end(root: Path) -> None:
    shares: list[float] = []
    read(root / "traces" / "pipeline.prv", progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
