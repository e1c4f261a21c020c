"""What a study knows besides its runs: the request, the machine as it was, the program's text and regions."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

import scalegraph
from scalegraph.base.run import Region

FORMAT = 1  # of the study file; raise it together with a step in migrations.py


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceText(_Part):
    """One source file as it was compiled. *name* is how regions and line costs call it."""

    name: str
    text: str
    instrumented: str = ""
    sha256: str = ""

    @classmethod
    def of(cls, name: str, text: str, instrumented: str = "") -> SourceText:
        """Return the source with its digest."""
        return cls(name=name, text=text, instrumented=instrumented, sha256=hashlib.sha256(text.encode()).hexdigest())


class Manifest(_Part):
    """Everything about a study that is not a run.

    *identity* is a digest of what every run of the study must share (sources, compiler flags, machine);
    runs of another identity are refused. *machine_values* are the effective values of the machine.
    """

    format: int = FORMAT
    created: str = ""
    tool_version: str = ""
    title: str = ""
    request: dict[str, Any] = Field(default_factory=dict)
    program: str = ""
    machine: str = ""
    machine_values: dict[str, Any] = Field(default_factory=dict)
    identity: str = ""
    sources: tuple[SourceText, ...] = ()
    regions: tuple[Region, ...] = ()

    @classmethod
    def new(cls, **values: Any) -> Manifest:
        """Return a manifest stamped with the time and this version."""
        stamp = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(created=stamp, tool_version=scalegraph.__version__, **values)


def digest(*parts: Any) -> str:
    """Return a short stable digest of JSON-able *parts*."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:24]
