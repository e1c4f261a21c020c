"""The pyramid in the trace's file: arrays as blocks, and a block that describes them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from scalegraph.base.errors import InputError
from scalegraph.traces.kinds import Array
from scalegraph.traces.lod import tiles
from scalegraph.traces.lod.layers import layers_of
from scalegraph.traces.lod.pyramid import Pyramid, arrays, build, restored
from scalegraph.traces.lod.scratch import Scratch
from scalegraph.traces.lod.streams import Step
from scalegraph.traces.model import Note, Trace

VERSION: Final = 1  # of the pyramid; any other is rebuilt


def _of(trace: Trace) -> dict[str, Any]:
    """Return what a pyramid depends on: if any of it differs, the pyramid is stale."""
    tables = {name: zlib.crc32(layer.table.astype("<i4").tobytes()) for name, layer in layers_of(trace).items()}
    return {
        "rows": trace.counts(),
        "begin": trace.meta.begin,
        "end": trace.meta.end,
        "locations": len(trace.definitions.locations),
        "tables": tables,
    }


def lacks_pyramid(trace: Trace) -> bool:
    """Return whether *trace* is large enough to keep a pyramid, but its file has none."""
    return sum(trace.counts().values()) >= tiles.WORTH and (trace.extra is None or not trace.extra.has("LODX", ""))


def save(trace: Trace, put: Callable[[str, str, Array], None], step: Step) -> None:
    """Make the pyramid of *trace* and pass on its blocks: type, name and array. Raises whatever *step* raises."""
    if sum(trace.counts().values()) < tiles.WORTH:
        return
    scratch = Scratch()
    try:
        made = build(trace, scratch, step)
        named = arrays(made)
        for number, array in enumerate(named.values()):
            step(1.0)
            put("LODA", str(number), array)
        data = {
            "version": VERSION,
            "of": _of(trace),
            "arrays": [[name, array.dtype.str, list(array.shape)] for name, array in named.items()],
            "levels": {name: level for name, (level, _) in made.totals.items()},
            "notes": [[note.what, note.count] for note in made.notes],
        }
        put("LODX", "", np.frombuffer(json.dumps(data).encode(), np.uint8))
    finally:
        scratch.close()


def load(trace: Trace, step: Step) -> tuple[Pyramid | None, bool]:
    """Return the pyramid in the file of *trace*, if any, and whether there is one that cannot be used."""
    extra = trace.extra
    if extra is None or not extra.has("LODX", ""):
        return None, False
    try:
        data = json.loads(bytes(extra.payload("LODX", "")))
        if data["version"] != VERSION or data["of"] != _of(trace):
            return None, True
        named = {}
        for number, (name, dtype, shape) in enumerate(data["arrays"]):
            payload = extra.payload("LODA", str(number), lambda: step(0.0))
            named[name] = np.frombuffer(payload, np.dtype(dtype)).reshape([int(n) for n in shape])
        return restored(trace, named, data["levels"], [Note(str(w), int(n)) for w, n in data["notes"]]), False
    except (InputError, ValueError, TypeError, KeyError, AttributeError, IndexError):
        return None, True
