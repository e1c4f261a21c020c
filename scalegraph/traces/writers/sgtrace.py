"""Our own format."""

from __future__ import annotations

from scalegraph.traces.container import SUFFIX, write_container
from scalegraph.traces.formats import Writer, Writing


def _write(writing: Writing) -> None:
    write_container(writing.trace, writing.path, writing.step)


WRITER = Writer("sgtrace", "ScaleGraph trace", (SUFFIX,), _write)
