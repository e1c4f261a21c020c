"""File filters of the open dialogs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scalegraph.runtime.languages import SOURCE_SUFFIXES

if TYPE_CHECKING:
    from scalegraph.measurements.reader import Reader
    from scalegraph.traces.formats import Reader as TraceReader

_ENDINGS = " ".join(f"*{suffix}" for suffix in SOURCE_SUFFIXES)
SOURCES = f"Sources ({_ENDINGS})"


def open_filter() -> str:
    """Return the filters of the open dialog: all supported files, then each kind."""
    readers = [reader for reader in _readers() if not reader.directory]
    endings = {f"*{ending}" for reader in readers for ending in reader.endings}
    endings |= {f"*{ending}" for reader in _trace_readers() for ending in reader.endings}
    kinds = [
        f"All supported files (*.sgstudy *.toml {_ENDINGS} {' '.join(sorted(endings))})",
        "Studies (*.sgstudy)",
        measurement_filter(),
        trace_filter(),
        "Requests (*.toml)",
        "Thread graphs (*.graph.toml)",
        SOURCES,
        "Programs and other files (*)",
    ]
    return ";;".join(kinds)


def measurement_filter() -> str:
    """Return the open dialog's filters for measurements: each format, and any file."""
    readers = [reader for reader in _readers() if not reader.directory]
    endings = sorted({f"*{ending}" for reader in readers for ending in reader.endings})
    single = [f"{_plain(reader.title)} ({' '.join('*' + e for e in reader.endings)})" for reader in readers]
    return ";;".join([f"Measurements ({' '.join(endings)})", *single])


def trace_filter() -> str:
    """Return the open dialog's filters for traces: all, each format, and any file (an anchor can have any name)."""
    readers = _trace_readers()
    endings = sorted({f"*{ending}" for reader in readers for ending in reader.endings})
    single = [f"{_plain(reader.title)} ({' '.join('*' + e for e in reader.endings)})" for reader in readers]
    return ";;".join([f"Traces ({' '.join(endings)})", *single, "Any file (*)"])


def _plain(title: str) -> str:
    return title.replace("(", "– ").replace(")", "")


def _readers() -> list[Reader]:
    from scalegraph.measurements.reader import readers

    return list(readers().values())


def _trace_readers() -> list[TraceReader]:
    from scalegraph.traces.formats import readers

    return list(readers().values())
