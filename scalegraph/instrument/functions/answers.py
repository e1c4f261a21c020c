"""Answers a run that asks for the rows of functions as it first executes them, in a process of its own.

    python -m scalegraph.instrument.functions.answers < REQUEST

The request, a line of JSON: *table*, the block table without these rows; *known*, a file with the rows that are known,
which this process updates at the end; *program*; *processor*; *lines* and *plain* (the plain build and its places),
files or null; *socket*, the number of a listening socket. A line is printed when the program has been read, and one
when the run has connected (it connects again if the program closes all descriptors). The process ends when there is no
connection and the standard input has ended.
"""

from __future__ import annotations

import gc
import json
import select
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from scalegraph.base.errors import InputError
from scalegraph.instrument.blocks import DAMAGE, section_of
from scalegraph.instrument.functions.kept import Kept, kept_functions
from scalegraph.instrument.functions.known import known_table, write_known
from scalegraph.instrument.functions.one_by_one import OneByOne
from scalegraph.instrument.functions.rows import (
    LOADS_SECTION,
    TIMING_SECTION,
    addresses_of,
    load_rows,
    timing_rows,
    with_rows,
)
from scalegraph.instrument.image import Image
from scalegraph.instrument.places import load
from scalegraph.instrument.plain import Plain
from scalegraph.instrument.plain_loops import PlainByNeed
from scalegraph.instrument.replaced import PlainLoops
from scalegraph.machine.model import Processor
from scalegraph.runtime.format import LOAD_ROW, ROWS_ANSWER, TIMING

_NUMBER_BYTES = 4


class Answers:
    """The rows of a program's blocks, found as they are asked for. *asked*: the request; *kept*: of earlier builds."""

    def __init__(self, asked: dict[str, Any], kept: Kept) -> None:
        known = Path(asked["known"])
        self._table = known_table(known) or Path(asked["table"]).read_bytes()
        self._addresses = addresses_of(self._table)
        self._blocks = {address: number for number, address in enumerate(self._addresses, 1)}
        self._rows = section_of(self._table, TIMING_SECTION, TIMING).copy()
        self._loads = section_of(self._table, LOADS_SECTION, LOAD_ROW).copy()
        self._numbers = {int(address): number for number, address in enumerate(self._loads["address"], 1)}
        processor = Processor.model_validate(asked["processor"])
        others = None
        if asked["plain"] is not None:
            plain = PlainByNeed(Plain(*map(Path, asked["plain"])))
            others = PlainLoops(load(Path(asked["lines"])).lines, plain)
        self._functions = OneByOne(Image(Path(asked["program"])), processor, others, kept)

    def of(self, number: int) -> bytes:
        """Return the answer to the *number* of a block, see `ROWS_ANSWER`."""
        found = self._functions.timing_at(self._addresses[number - 1])
        addresses, loads = sorted(found.cycles), sorted(found.loads)
        numbers = {address: self._numbers[address] for address in loads}
        rows = timing_rows(found, addresses, self._blocks, numbers)
        of_loads = load_rows(found, loads, numbers)
        at = [self._blocks[address] - 1 for address in addresses], [numbers[address] - 1 for address in loads]
        self._rows[at[0]], self._loads[at[1]] = rows, of_loads
        places = b"".join(one.to_bytes(_NUMBER_BYTES, "little") for one in (*at[0], *at[1]))
        return _answer(len(rows), len(of_loads), 0) + places + rows.tobytes() + of_loads.tobytes()

    def table(self) -> bytes:
        """Return the block table with all rows that are known."""
        return with_rows(self._table, self._rows, self._loads)


def _answer(timings: int, loads: int, text: int) -> bytes:
    values = {"timings": timings, "loads": loads, "text": text, "pad": 0}
    return b"".join(values[field[0]].to_bytes(_NUMBER_BYTES, "little") for field in ROWS_ANSWER.fields)


def _failed(error: BaseException) -> bytes:
    text = " ".join(str(error).split()).encode()[:400] or type(error).__name__.encode()
    return _answer(0, 0, len(text)) + text


def _serve(connection: socket.socket, answers: Answers | bytes) -> None:
    """Answer until the run closes the *connection*; *answers*: or the same text to every question."""
    with connection.makefile("rwb") as both:
        while len(asked := both.read(_NUMBER_BYTES)) == _NUMBER_BYTES:
            try:
                both.write(answers if isinstance(answers, bytes) else answers.of(int.from_bytes(asked, "little")))
            except DAMAGE as error:
                both.write(_failed(error))
            both.flush()


def main() -> None:
    """Do what the request on the standard input says."""
    gc.disable()  # as in `apart`
    asked = json.loads(sys.stdin.readline())
    with socket.socket(fileno=asked["socket"]) as listening, kept_functions() as kept:
        answers: Answers | bytes
        try:
            answers = Answers(asked, kept)
        except (*DAMAGE, InputError) as error:
            answers = _failed(error)
        print("ready", flush=True)
        connected = False
        while listening in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            if not connected:
                print("connected", flush=True)
            connected = True
            with connection, suppress(ConnectionError):  # the run was killed
                _serve(connection, answers)
        if connected and isinstance(answers, Answers):
            write_known(Path(asked["known"]), answers.table())


if __name__ == "__main__":
    main()
