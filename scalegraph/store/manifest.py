"""The manifest of a study: the request, the machine as it was, the program's sources and regions."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

import scalegraph
from scalegraph.base.run import Region

FORMAT = 3  # of the study file; raise it together with a step in migrations.py


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class SourceText(_Part):
    """A source file as it was compiled. *name* is its name in regions and line costs."""

    name: str
    text: str
    instrumented: str = ""
    sha256: str = ""

    @classmethod
    def of(cls, name: str, text: str, instrumented: str = "") -> SourceText:
        """Return the source with its digest."""
        raw = text.encode("utf-8", "surrogateescape")  # bytes of the file, even if not UTF-8
        return cls(
            name=name,
            text=raw.decode("utf-8", "replace"),
            instrumented=instrumented.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
            sha256=hashlib.sha256(raw).hexdigest(),
        )


class Manifest(_Part):
    """Everything about a study except its runs.

    *identity* holds digests of what all runs of the study must share, by name (program, arguments, machine, ..); runs
    with another identity are rejected. *machine_values* are the effective values of the machine. *memory* is the
    formula for the bytes allocated by the program in terms of its parameters; empty if unknown.
    """

    format: int = FORMAT
    created: str = ""
    tool_version: str = ""
    title: str = ""
    request: dict[str, Any] = Field(default_factory=dict)
    program: str = ""
    machine: str = ""
    machine_values: dict[str, Any] = Field(default_factory=dict)
    identity: dict[str, str] = Field(default_factory=dict)
    memory: str = ""
    sources: tuple[SourceText, ...] = ()
    regions: tuple[Region, ...] = ()

    @model_validator(mode="after")
    def _machine_of_request(self) -> Self:
        """Set the machine in a request that left it out: the default may have changed since."""
        asked = self.request.get("machine") or {}
        if self.machine and self.request.get("program") and not (asked.get("name") or asked.get("path")):
            self.__dict__["request"] = {**self.request, "machine": {**asked, "name": self.machine}}
        return self

    @classmethod
    def new(cls, **values: Any) -> Manifest:
        """Return a manifest stamped with the current time and version."""
        stamp = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(created=stamp, tool_version=scalegraph.__version__, **values)


def digest(*parts: Any) -> str:
    """Return a short stable digest of the JSON-serialisable *parts*."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:24]
