"""The packets of Perfetto's binary traces, one by one, with the protobuf classes of the package ``perfetto``.

Only these classes are used. The rest of the package downloads and runs an executable; it is never called.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Iterator
from typing import Any, Final

from scalegraph.base.errors import MissingTool
from scalegraph.base.units import thousands
from scalegraph.traces.formats import Reading
from scalegraph.traces.text import blocks

INSTALL: Final = (
    "Perfetto's traces need the package perfetto: pip install 'scalegraph[perfetto]'; without it, `traceconv json FILE "
    "trace.json` makes Chrome's JSON, which is read"
)
_TAG: Final = 0x0A  # field 1 with a length: a packet of the trace
_LARGEST: Final = 64 << 20  # bytes of one packet, packed or not
_LENGTH: Final = 5  # bytes of the length of a packet: up to 2^35
_MODULE: Final = "perfetto.protos.perfetto.trace.perfetto_trace_pb2"


def protos() -> tuple[Any, type[Exception]]:
    """Return the module with the classes of the format, and what they raise for damaged data.

    Raises `MissingTool` if it is not installed.
    """
    try:
        return importlib.import_module(_MODULE), importlib.import_module("google.protobuf.message").DecodeError
    except (ImportError, TypeError) as error:  # TypeError: a protobuf that is too old for these classes
        raise MissingTool(INSTALL) from error


def looks(head: bytes) -> bool:
    """Whether the first bytes of a file are packets of a trace: each a mark, its length and its content."""
    at, seen = 0, 0
    while at < len(head):
        if head[at] != _TAG:
            return False
        length, at = _length(head, at + 1)
        if length <= 0:
            return length < 0 and seen > 0 and at >= len(head)
        at, seen = at + length, seen + 1
    return (seen > 1 or (seen == 1 and at == len(head))) and any(byte < 9 for byte in head)


def packets(reading: Reading) -> Iterator[Any]:
    """Yield every packet, including those packed in others; damage is reported with its byte offset."""
    made, damaged = protos()
    for at, data in _parts(reading):
        try:
            packet = made.TracePacket.FromString(data)
        except damaged as error:
            reading.broken(f"byte {thousands(at)}: a packet of {len(data)} bytes is damaged ({error})")
            continue
        if packet.HasField("compressed_packets"):
            try:
                whole = _unpacked(reading, packet.compressed_packets, at)
                inner = made.Trace.FromString(whole).packet
            except (zlib.error, damaged) as error:
                reading.broken(f"byte {thousands(at)}: a packed packet is damaged ({error})")
                continue
            yield from inner
        elif packet.WhichOneof("data") == "zstd_compressed_packets":
            reading.broken(
                f"byte {thousands(at)}: packets packed with zstd; `traceconv decompress_packets` unpacks them"
            )
        else:
            yield packet


def _unpacked(reading: Reading, data: bytes, at: int) -> bytes:
    """Return the packets packed in one, empty if that is too large."""
    unpack = zlib.decompressobj()
    whole = unpack.decompress(data, _LARGEST)
    if unpack.eof:
        return whole
    what = f"unpacks to more than {_LARGEST >> 20} MiB" if unpack.unconsumed_tail else "is cut off"
    reading.broken(f"byte {thousands(at)}: a packed packet {what}")
    return b""


def _parts(reading: Reading) -> Iterator[tuple[int, bytes]]:
    """Yield the byte offset and the bytes of each packet."""
    window, begin = bytearray(), 0  # place of the window in the unpacked file
    for block in blocks(reading):
        window += block
        at = 0
        while at < len(window):
            if window[at] != _TAG:
                reading.broken(f"byte {thousands(begin + at)}: a packet was expected")
                return
            length, content = _length(window, at + 1)
            if length == 0 and content < 0:
                reading.broken(f"byte {thousands(begin + at)}: the length of a packet was expected")
                return
            if length > _LARGEST:
                words = f"a packet of {thousands(length)} bytes; {thousands(_LARGEST)} at most were expected"
                reading.broken(f"byte {thousands(begin + at)}: {words}")
                return
            if length < 0 or content + length > len(window):
                break
            yield begin + at, bytes(window[content : content + length])
            at = content + length
        del window[:at]
        begin += at
    if window:
        reading.broken(f"byte {thousands(begin)}: the file is cut off in a packet")


def _length(data: bytes | bytearray, at: int) -> tuple[int, int]:
    """Return the length that is written at *at*, and where the content begins.

    The length is -1 if the data ends before; both are (0, -1) if it is damaged.
    """
    value = 0
    for place in range(_LENGTH):
        if at + place >= len(data):
            return -1, at + place
        byte = data[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    return 0, -1
