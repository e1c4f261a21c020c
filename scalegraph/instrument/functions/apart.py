"""Times the blocks of a large program in a process of its own, which may use several more.

    python -m scalegraph.instrument.functions.apart < REQUEST

The request, in JSON: *table*, the block table; *program*; *processor*; *lines* and *plain* (the plain build and its
places), files or null; *to*, the file to write; *processes*.
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path

from scalegraph.instrument.functions.kept import kept_functions
from scalegraph.instrument.functions.rows import table_with
from scalegraph.instrument.places import load
from scalegraph.instrument.plain import Plain
from scalegraph.instrument.timed import found_timing
from scalegraph.machine.model import Processor


def main() -> None:
    """Do what the request on the standard input says."""
    gc.disable()  # a tenth of the time, for millions of objects that all stay until the end
    asked = json.load(sys.stdin)
    program = Path(asked["program"])
    lines = None if asked["lines"] is None else load(Path(asked["lines"])).lines
    plain = None if asked["plain"] is None else Plain(*map(Path, asked["plain"]))
    processor = Processor.model_validate(asked["processor"])
    found = found_timing(program, processor, lines, plain, kept_functions, asked["processes"])
    Path(asked["to"]).write_bytes(table_with(Path(asked["table"]).read_bytes(), found))


if __name__ == "__main__":
    main()
