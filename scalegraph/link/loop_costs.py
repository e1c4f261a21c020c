"""What loops cost under their schedules: from the runtime's records to the run's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from scalegraph.base.loops import Chunks, LoopCost
from scalegraph.link.build import Build
from scalegraph.link.scale import same_file
from scalegraph.runtime import observed
from scalegraph.runtime.layout import Row
from scalegraph.runtime.results import Result

_LINES = ("lines", "fresh")
_CYCLES = ("body", "stall", "asking", "lock", "ending")


def loop_costs(build: Build, result: Result) -> tuple[LoopCost, ...]:
    """Return the loops from the LOOP, LOOP_PART and CHUNK records, in the order in which the run reached them."""
    loops = result.rows("LOOPS")
    places = _places(build, loops) if loops else []
    parts: dict[int, list[Row]] = defaultdict(list)
    for row in result.rows("LOOP_PARTS"):
        parts[row["loop"]].append(row)
    chunks: dict[int, list[Row]] = defaultdict(list)
    for row in result.rows("CHUNKS"):
        chunks[row["loop"]].append(row)
    return tuple(
        LoopCost(
            file=file,
            line=line,
            schedule=row["schedule"].decode("utf-8", "replace"),
            **{name: row[name] for name in ("iterations", "executions", "members", "elapsed")},
            **_parts(sorted(parts[number], key=lambda part: int(part["processor"]))),
            history=_chunks(chunks[number]),
        )
        for number, (row, (file, line)) in enumerate(zip(loops, places, strict=True))
    )


def _places(build: Build, loops: Sequence[Row]) -> list[tuple[str, int]]:
    """Return file and line of each loop: of its directive, or of the call if no region is known for it.

    Compilers may give the call that starts a parallel loop the line of the statement before it, if they move it there.
    """
    regions = {region.id: region for region in build.regions}
    found = []
    for row, (file, line, _function) in zip(loops, build.lines.lookup([row["address"] for row in loops]), strict=True):
        region = regions.get(row["region"])
        if region is not None and same_file(region.file, file) and (region.is_loop or region.kind == "parallel"):
            line = region.line if region.is_loop or not region.line <= line <= region.end_line else line
        found.append((file, line))
    return found


def _parts(rows: Sequence[Row]) -> dict[str, Any]:
    def by_origin(name: str) -> dict[str, tuple[int, ...]]:
        columns = ((origin, tuple(row[name][at] for row in rows)) for at, origin in enumerate(observed.CHUNK_ORIGINS))
        return {origin: column for origin, column in columns if any(column)}

    return {
        "processor": tuple(row["processor"] for row in rows),
        "entered": tuple(row["executions"] for row in rows),
        "chunks": by_origin("chunks"),
        "taken": by_origin("iterations"),
        **{name: tuple(row[name] for row in rows) for name in (*_CYCLES, *(_LINES if _has_lines(rows) else ()))},
    }


def _has_lines(rows: Sequence[Row]) -> bool:
    """Return whether the run recorded lines: if so, some iteration used some."""
    return any(row["lines"] for row in rows)


def _chunks(rows: Sequence[Row]) -> Chunks:
    return Chunks(**{name: tuple(row[name] for row in rows) for name in Chunks.model_fields})
