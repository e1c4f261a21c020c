"""Versions and licences of this installation, as text to copy."""

from __future__ import annotations

import platform
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Final

import scalegraph

# main dependencies: distribution -> licence, if its metadata has none
PARTS: Final[dict[str, str]] = {
    "PySide6-Essentials": "LGPL-3.0",
    "shiboken6": "LGPL-3.0",
    "pyqtgraph": "MIT",
    "numpy": "BSD-3-Clause",
    "scipy": "BSD-3-Clause",
    "pandas": "BSD-3-Clause",
    "matplotlib": "PSF-based",
    "pyarrow": "Apache-2.0",
    "pydantic": "MIT",
    "tree-sitter": "MIT",
    "capstone": "BSD-3-Clause",
    "pyelftools": "Public domain",
    "click": "BSD-3-Clause",
    "jinja2": "BSD-3-Clause",
}
_LONGEST: Final = 40  # characters of a licence; some metadata contain the full text


def versions() -> list[tuple[str, str, str]]:
    """Return (name, version, licence) of ScaleGraph, Python, Qt and every installed component."""
    from PySide6.QtCore import qVersion

    rows = [
        ("ScaleGraph", scalegraph.__version__, "BSD-3-Clause"),
        ("Python", platform.python_version(), "PSF-2.0"),
        ("Qt", qVersion(), "LGPL-3.0"),
    ]
    for name, otherwise in PARTS.items():
        try:
            about = metadata.metadata(name)
        except metadata.PackageNotFoundError:
            continue
        rows.append((name, about["Version"], _licence(about) or otherwise))
    return rows


def _licence(about: metadata.PackageMetadata) -> str:
    """Return a short licence name from a distribution's metadata, or ""."""
    for key in ("License-Expression", "License"):
        said = (about.get(key) or "").strip()  # type: ignore[attr-defined]
        if said and len(said) <= _LONGEST and "\n" not in said:
            return said
    named = [c for c in about.get_all("Classifier") or [] if c.startswith("License :: ")]
    return re.sub(r".*:: ", "", named[0]) if named else ""


def licence_text() -> str:
    """Return ScaleGraph's licence, from the installed package or the checkout."""
    try:
        for file in metadata.files("scalegraph") or []:
            if file.name == "LICENSE":
                return file.read_text()
    except (metadata.PackageNotFoundError, OSError):
        pass
    beside = Path(scalegraph.__file__).parent.parent / "LICENSE"
    return beside.read_text(encoding="utf-8") if beside.is_file() else "BSD 3-Clause License"


def documentation() -> str:
    """Return the documentation's address from the installed package, or ""."""
    try:
        urls = metadata.metadata("scalegraph").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    return next((url.partition(", ")[2] for url in urls if url.startswith("Documentation, ")), "")


def system() -> str:
    """Return a short description of the operating system."""
    return f"{platform.system()} {platform.release()} ({platform.machine()})"


def report() -> str:
    """Return the text of a problem report: questions, then versions."""
    from scalegraph.gui.app import log_path

    lines = ["What I did:", "", "What I expected:", "", "What happened:", "", f"System: {system()}"]
    lines += [f"Interpreter: {sys.implementation.name} {platform.python_version()}"]
    lines += [f"{name} {version}" for name, version, _ in versions()]
    lines += [f"Errors are logged in {log_path()}"]
    return "\n".join(lines)
