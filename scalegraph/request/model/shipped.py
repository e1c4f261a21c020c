"""Studies shipped with ScaleGraph: where they are, the user's copy, and whether runs can be added to it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Final

from scalegraph.base.errors import ScaleGraphError
from scalegraph.base.resources import resource_dir
from scalegraph.runtime.compiler import find_compiler
from scalegraph.store import Manifest, Study

DEMO: Final = "demo"
FACT: Final = "shipped"  # in a study made to be shipped: what its runs were compiled with


def shipped(name: str = DEMO) -> Path | None:
    """Return the shipped study *name*; ``None`` if the installation lacks it."""
    try:
        path = resource_dir("studies") / f"{name}.sgstudy"
    except FileNotFoundError:
        return None
    return path if path.is_file() else None


def user_directory() -> Path:
    """Return the directory for the user's copies of shipped studies."""
    import platformdirs

    return Path(platformdirs.user_data_dir("scalegraph", appauthor=False)) / "demo"


def opened_copy(directory: Path, name: str = DEMO) -> Path | None:
    """Return the user's copy of the shipped study *name* in *directory*, made if it is missing.

    A copy from an earlier ScaleGraph, or one that cannot be read, is left alone: the new one gets the next free name.
    If nothing can be written, the shipped file itself is returned, which opens for viewing. ``None`` if there is none.
    """
    source = shipped(name)
    if source is None:
        return None
    try:
        made = _stamp(source)
        number = 1
        while True:
            path = directory / (f"{name}.sgstudy" if number == 1 else f"{name}-{number}.sgstudy")
            if not path.exists():
                return _copy(source, path)
            if _stamp(path) == made:
                return path
            number += 1
    except OSError:
        return source


def _stamp(path: Path) -> tuple[str, Any] | None:
    """Return what distinguishes one shipped study from another; runs that the user added do not count."""
    try:
        with Study.open(path) as study:
            return study.manifest.created, study.facts(FACT)
    except ScaleGraphError:
        return None


def _copy(source: Path, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        shutil.copyfile(source, part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def mark(study: Study) -> None:
    """Record in *study*, which is being made to be shipped, what its runs were compiled with."""
    study.set_facts(FACT, {"compiler": find_compiler("c").identity})


def adopted(study: Study, now: Manifest) -> Manifest | None:
    """Return the manifest for adding runs of *now* to the shipped *study*; ``None`` if they may not be added.

    Normally the place of an installation is part of a build's identity; here it is ignored, but program text,
    instrumentation, arguments, machine and compiler are compared.
    """
    fact = study.facts(FACT)
    before = study.manifest
    if not isinstance(fact, dict) or fact.get("compiler") != find_compiler("c").identity:
        return None
    if before.sources != now.sources or before.regions != now.regions:
        return None
    identity = {**before.identity, "program": now.identity.get("program", "")}
    return before.model_copy(update={"identity": identity})


def is_shipped(study: Study) -> bool:
    """Return whether *study* is a shipped one, or a copy."""
    return study.facts(FACT) is not None
