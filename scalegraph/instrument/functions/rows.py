"""Rows of the block table with block times: of all blocks, or of those of some functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scalegraph.instrument.blocks import BLOCKS_SECTION, CLOCKS_SECTION, section_of, with_sections
from scalegraph.instrument.functions.timing import Timing
from scalegraph.instrument.pipeline import Origins
from scalegraph.runtime.format import (
    BLOCK,
    CLOCK,
    HEADER,
    LOAD_ROW,
    TIMING,
    TIMING_BY_OPERATIONS,
    TIMING_UNKNOWN,
    TURNS,
)

TIMING_SECTION: Final = 2
LOADS_SECTION: Final = 3
_MOST: Final = 2**32 - 1


def table_with(table: bytes, found: Timing) -> bytes:
    """Return the block table *table* with added sections: the timing that was *found* for its program."""
    addresses = addresses_of(table)
    loads = sorted(found.loads)
    numbers = {address: number for number, address in enumerate(loads, 1)}
    blocks = {address: number for number, address in enumerate(addresses, 1)}
    return with_rows(table, timing_rows(found, addresses, blocks, numbers), load_rows(found, loads, numbers))


def unknown_table(table: bytes, sites: Sequence[int]) -> bytes:
    """Return the block table *table* with sections for timing in which nothing is known of any block.

    *sites*: return addresses of all hooks, sorted: those of references are among them.
    """
    rows = np.zeros(len(addresses_of(table)), dtype=TIMING)
    rows["millicycles"], rows["predicted"] = TIMING_UNKNOWN, 1
    loads = np.zeros(len(sites), dtype=LOAD_ROW)
    loads["address"], loads["unknown"] = sites, 1
    return with_rows(table, rows, loads)


def with_rows(table: bytes, rows: NDArray[np.void], loads: NDArray[np.void]) -> bytes:
    """Return the block table *table* with these records for blocks and references."""
    header = np.frombuffer(table[: HEADER.itemsize], dtype=HEADER).copy()
    records, clocks = section_of(table, BLOCKS_SECTION, BLOCK), section_of(table, CLOCKS_SECTION, CLOCK)
    return with_sections(
        header, {BLOCKS_SECTION: records, TIMING_SECTION: rows, LOADS_SECTION: loads, CLOCKS_SECTION: clocks}
    )


def addresses_of(table: bytes) -> list[int]:
    """Return the addresses of the blocks in *table*, sorted."""
    return [int(address) for address in section_of(table, BLOCKS_SECTION, BLOCK)["address"]]


def timing_rows(
    found: Timing, addresses: Sequence[int], blocks: Mapping[int, int], numbers: Mapping[int, int]
) -> NDArray[np.void]:
    """Return the records of the blocks at *addresses*; *blocks*, *numbers*: of blocks and references, by address."""
    rows = np.zeros(len(addresses), dtype=TIMING)
    rows["millicycles"] = TIMING_BY_OPERATIONS
    if found.cycles:
        milli = np.rint(1000 * np.array([found.cycles[address] for address in addresses]))
        rows["millicycles"] = np.minimum(milli, TIMING_UNKNOWN - 1)
    rows["predicted"] = [address in found.predicted for address in addresses]
    for row, address in zip(rows, addresses, strict=True):
        turns = [(blocks[to], round(1000 * more)) for to, more in sorted(found.turns.get(address, {}).items())]
        turns = sorted(turns, key=lambda turn: abs(turn[1]))[-TURNS:]
        row["turns"][: len(turns)] = [to for to, _ in turns]
        row["more"][: len(turns)] = [more for _, more in turns]
        if brief := found.briefs.get(address):
            row["saved"] = max(0, int(row["millicycles"]) - round(1000 * brief.cycles))
            row["reach"] = brief.reach
            row["early"] = min(_MOST, round(1000 * brief.early))
        _say_origins(row, found.predicted.get(address, {}), numbers)
    return rows


def load_rows(found: Timing, addresses: Sequence[int], numbers: Mapping[int, int]) -> NDArray[np.void]:
    """Return the records of the references at *addresses*; *numbers*: of all references, by address."""
    rows = np.zeros(len(addresses), dtype=LOAD_ROW)
    rows["address"] = addresses
    rows["ahead"] = [min(_MOST, round(1000 * found.loads[address].ahead)) for address in addresses]
    for row, address in zip(rows, addresses, strict=True):
        _say_origins(row, found.loads[address].origins, numbers)
    return rows


def _say_origins(row: np.void, origins: Origins, numbers: Mapping[int, int]) -> None:
    """Write the latest of *origins* into *row*, as record numbers and cycles in thousandths."""
    latest = [item for item in sorted(origins.items(), key=itemgetter(1, 0)) if item[0] in numbers][
        : row["origins"].size
    ]
    row["origins"][: len(latest)] = [numbers[site] for site, _ in latest]
    row["delays"][: len(latest)] = [min(_MOST, round(1000 * cycles)) for _, cycles in latest]
