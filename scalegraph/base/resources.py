"""The directory of shipped resources: inside the installed package, or beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

import scalegraph


def resource_dir(name: str) -> Path:
    """Return the directory ``resources/<name>`` (``machines``, ``programs``, ``icons``, ..)."""
    package = Path(scalegraph.__file__).parent
    for root in (package / "resources", package.parent / "resources"):
        if (root / name).is_dir():
            return root / name
    raise FileNotFoundError(f"the installation lacks its resources/{name}; install ScaleGraph again")
