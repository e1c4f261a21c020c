from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def data(root: Path) -> Path:
    """Traces made by other tools; they are not part of the repository."""
    place = Path(os.environ.get("SCALEGRAPH_DATA") or root.parent / "shared" / "data")
    if not place.is_dir():
        pytest.skip("no traces of other tools: SCALEGRAPH_DATA names their directory")
    return place
