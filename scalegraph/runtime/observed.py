"""Records of what the runtime observes of a run besides its costs; `runtime.format` puts them into the C header."""

from __future__ import annotations

from typing import Final

from scalegraph.runtime.layout import Layout

# A place where the main thread reads a clock: the call, its caller and that one's caller (code addresses; 0: none).
# *work*: processor cycles of other threads, and cycles of the main thread in parallel regions, until then.
READING: Final = Layout(
    [
        ("address", "<u8"),
        ("caller", "<u8"),
        ("outer", "<u8"),
        ("count", "<u8"),
        ("first", "<u8"),  # clock in cycles
        ("first_work", "<u8"),
        ("last", "<u8"),
        ("last_work", "<u8"),
    ]
)
# Elapsed cycles of the main thread in a region and all that it calls.
PART: Final = Layout([("region", "<u4"), ("pad", "<u4"), ("visits", "<u8"), ("cycles", "<u8")])

SECTIONS: Final[tuple[tuple[str, int, str], ...]] = (
    ("READINGS", 14, "READING records: where the main thread reads a clock"),
    ("PARTS", 15, "PART records: elapsed time of the main thread by region, what it calls included"),
)
STRUCTS: Final[tuple[tuple[str, Layout], ...]] = (("sg_reading", READING), ("sg_part", PART))
