"""One study with runs of several targets: what they must share, and whose machine the study names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

from scalegraph.link.targets import Target
from scalegraph.store import Manifest

# Each target has its own: it builds the program anew and has its own machine.
_OWN: Final = ("program", "machine")


def identity(parts: Mapping[str, str], target: Target) -> dict[str, str]:
    """Return the identity of runs on *target*: parts specific to it get its name, ``program@host``."""
    if target.source == "simulated":
        return dict(parts)
    own = {f"{name}@{target.name}" if name in _OWN else name: value for name, value in parts.items()}
    if (place := target.place()) is not None:
        facts = [place.title, *(f"{name}={value}" for name, value in sorted(place.values.items()))]
        own[f"machine@{target.name}"] = hashlib.sha256("\0".join(facts).encode()).hexdigest()
    return own


_WORDS = {
    "program": "another program (its sources, headers, flags, the compiler or ScaleGraph have changed)",
    "arguments": "other arguments",
    "machine": "another machine",
    "schedule": "another loop schedule",
    "input": "another standard input",
    "processes": "another number of threads a process",
    "ranks": "another number of ranks a node",
}


def differences(before: Manifest, now: Manifest) -> list[str]:
    """Return in words what differs between the runs of a study and those described by *now*.

    Target-specific parts are compared with earlier runs on the same target; a target that is new to the study must run
    the same sources.
    """
    found = []
    for part, said in _WORDS.items():
        same = before.identity.get(part) == now.identity.get(part)
        if not (_same_part(before, now, part) if part in _OWN else same):
            found.append(said)
    return found


def _same_part(before: Manifest, now: Manifest, part: str) -> bool:
    mine = {name: value for name, value in now.identity.items() if name.partition("@")[0] == part}
    if any(name in before.identity for name in mine):
        return all(before.identity.get(name, value) == value for name, value in mine.items())
    if not any(name.partition("@")[0] == part for name in before.identity):
        return False  # the study does not say which program its runs are of
    return part != "program" or _texts(before) == _texts(now)


def _texts(manifest: Manifest) -> dict[str, str]:
    return {source.name: source.sha256 for source in manifest.sources}


def measured_manifest(manifest: Manifest, target: Target) -> Manifest:
    """Return *manifest* with the place of *target* as its machine, if the target is not a simulated one."""
    place = target.place() if target.source != "simulated" else None
    if place is None:
        return manifest
    values = {"title": place.title, **place.values}
    return manifest.model_copy(update={"machine": place.name, "machine_values": values})


def combined(before: Manifest, now: Manifest, targets: Sequence[str]) -> Manifest:
    """Return the manifest of a study with runs on *targets* once those of *now* join; it keeps a simulated machine."""
    kept: dict[str, object] = {"created": before.created, "identity": before.identity | now.identity}
    if "" in targets and "machine" not in now.identity:
        kept |= {"machine": before.machine, "machine_values": before.machine_values}
    return now.model_copy(update=kept)
