"""The manifest of a study: the state of request, program and machine when its runs were made."""

from __future__ import annotations

import hashlib

from scalegraph.link import Build
from scalegraph.link.targets import Target
from scalegraph.machine import active
from scalegraph.request.model import processes
from scalegraph.request.model.resolve import Resolved
from scalegraph.request.run import targeted
from scalegraph.store import Manifest, SourceText
from scalegraph.store.manifest import digest


def manifest_of(found: Resolved, target: Target, build: Build) -> Manifest:
    """Return the facts of a study of *found*, carried out on *target*, apart from its runs."""
    words = found.target
    stdin = hashlib.sha256(words.stdin.read_bytes()).hexdigest() if words.stdin else ""
    made = Manifest.new(
        title=found.request.title or words.title,
        request=found.request.model_dump(mode="json", exclude_defaults=True)
        | {"bound": [bound.model_dump(mode="json") for bound in found.request.bound]}
        | ({"work": found.work} if found.work else {}),
        program=words.program,
        machine=found.machine.name,
        machine_values=found.machine.model_dump(mode="json"),
        identity=targeted.identity(
            {
                "program": build.digest,
                "arguments": digest(words.args, dict(words.env), *map(str, sorted(words.args_at.items()))),
                "machine": digest(
                    found.machine.runtime_config() | found.machine.pipeline_config() | active.values(found.machine)
                ),
                "schedule": found.request.schedule,
                "input": stdin,
                **processes.identity(found.request),
            },
            target,
        ),
        memory=found.family.memory_formula.text if found.family.memory_formula else "",
        sources=tuple(SourceText.of(source.file, source.text, source.instrumented) for source in build.sources),
        regions=build.regions,
    )
    return targeted.measured_manifest(made, target)


def as_known(manifest: Manifest, kept: Manifest, build: Build) -> Manifest:
    """Return *manifest* with the program identity that *kept* uses, if that is the digest of its file."""
    known = kept.identity.get("program")
    if not known or known != build.file_digest:
        return manifest
    return manifest.model_copy(update={"identity": manifest.identity | {"program": known}})
