"""What a viewer shows while another process writes the study."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.request.run import watching
from scalegraph.store import Manifest, Study


@pytest.mark.parametrize(("process", "live"), [(None, False), (1, True)])
def test_only_another_process_adds_to_a_study(
    process: int | None, live: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study.create(tmp_path / "a.sgstudy", Manifest.new(title="a"))
    assert not watching.watched(study).words, "this process holds it"
    monkeypatch.setattr(watching, "writer", lambda _path: process)
    assert watching.watched(study).live is live
    study.close()
