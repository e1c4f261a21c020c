"""What an installation has below ``share``."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def share(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the files of the repository's ``share`` and those that a build makes."""
    made = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, str(root / "docs" / "make_share.py"), str(made)], check=True)
    shutil.copytree(root / "share", made / "share", dirs_exist_ok=True)
    return made / "share"
