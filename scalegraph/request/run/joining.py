"""Which of a study's choices a request's runs belong to, and what the choices in one study must share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import counted
from scalegraph.request.model.axes import AXES
from scalegraph.request.model.origin import of_study
from scalegraph.request.model.request import Request
from scalegraph.request.model.space import same_setting, setting_of
from scalegraph.store import Manifest, Study

# settings of the program in which choices may differ
_VARIED: Final = (*(axis.key.removeprefix("program.") for axis in AXES.values()), "env")


def member_of(study: Study, setting: Mapping[str, str]) -> Study | None:
    """Return *study* as seen by the runs of the choice *setting*, None if it has none."""
    if not len(study):
        return None
    for one in study.members():
        shown = study.member(one)
        if same_setting(one or _only(shown), setting):
            return shown
    return None


def choice_of(study: Study, request: Request) -> Study:
    """Return *study* as seen by the runs of *request*, a single choice: the whole study unless it has several."""
    if study.members() == ({},):
        return study
    return member_of(study, setting_of(request)) or study


def _only(study: Study) -> Mapping[str, str]:
    """Return the choice of the runs in a study without several, from its request."""
    try:
        return setting_of(of_study(study.manifest.request, ""))
    except InputError:
        return {"machine": study.manifest.machine}


def check_program(study: Study, manifest: Manifest, path: Path) -> None:
    """Raise `InputError` if *study* has runs of another program, or with other arguments, than *manifest*."""
    if not len(study):
        return
    before = study.manifest
    differ = []
    texts = [{source.name: source.sha256 for source in one.sources} for one in (before, manifest)]
    if texts[0] != texts[1] or (not texts[0] and before.identity.get("program") != manifest.identity.get("program")):
        differ.append("another program")
    if _program(before) != _program(manifest) or before.identity.get("input") != manifest.identity.get("input"):
        differ.append("other arguments")
    if differ:
        text = f"holds {counted(len(study), 'run')} of {' and '.join(differ)}; choose another study"
        raise InputError(Fault(text, file=str(path)))


def _program(manifest: Manifest) -> Mapping[str, object]:
    """Return the program settings that every choice of a study shares."""
    said = manifest.request.get("program")
    return {name: value for name, value in said.items() if name not in _VARIED} if isinstance(said, dict) else {}
