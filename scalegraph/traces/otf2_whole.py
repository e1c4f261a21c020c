"""Checks that a written OTF2 archive is complete: the library does not report a full disk."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from scalegraph.base.units import thousands
from scalegraph.traces.otf2_library import BATCH, package, silence


def lacks(path: Path) -> str:
    """Return what is wrong with the archive at *path*, an empty string if every location has all of its events."""
    high, low = package()
    source: Any = object.__new__(high.reader.Reader)
    source._handle = None
    with silence():
        try:
            source.__init__(str(path))
            return _lacks(low, source)
        except Exception as error:  # noqa: BLE001 - the package raises many kinds for a file that is cut off
            return " ".join(str(error).split()) or type(error).__name__
        finally:
            handle, source._handle = source._handle, None
            if handle is not None:
                with contextlib.suppress(low.Error):
                    low.Reader_Close(handle)


def _lacks(low: Any, source: Any) -> str:
    handle, locations = source._handle, list(source.definitions.locations)
    for location in locations:
        low.Reader_SelectLocation(handle, location._ref)
    low.Reader_OpenEvtFiles(handle)
    for location in locations:
        events = low.Reader_GetEvtReader(handle, location._ref)
        count, got = 0, BATCH
        while got == BATCH:
            got = low.Reader_ReadLocalEvents(handle, events, BATCH)
            count += got
        low.Reader_CloseEvtReader(handle, events)
        if count != location.number_of_events:
            return f"location {location._ref} has {thousands(count)} of {thousands(location.number_of_events)} events"
    return ""
