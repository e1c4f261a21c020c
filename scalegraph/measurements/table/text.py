"""Decodes a file's bytes into lines of text, whatever program wrote it."""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass
from pathlib import Path

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.files import reason
from scalegraph.measurements.limits import check_lines
from scalegraph.measurements.table import records, rewritten, sheets

LARGEST = 4 * 2**30  # bytes of a file read at once
_MOST_JOINED = 1000  # lines of one quoted cell
_OPEN = re.compile(r'(?:^|[,;\t|])\s*"(?:[^"]|"")*$')
_CLOSED = re.compile(r'^(?:[^"]|"")*"\s*(?:$|[,;\t|])')
_BLOCK = 1 << 20  # bytes of a file of unknown size
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is a prefix of this one
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Lines:
    """Lines of a file without their ends, its encoding, and notes for the user."""

    lines: list[str]
    encoding: str
    notes: tuple[str, ...] = ()


def read_lines(path: Path, encoding: str = "", limit: int = LARGEST) -> Lines:
    """Return the lines of *path*, or of its first *limit* bytes.

    An empty *encoding* means: by the file's byte order mark, else UTF-8, else Latin-1.

    Raises `InputError` for a file that cannot be read or is not text.
    """
    if not sheets.is_sheet(path, _head(path)):
        check_lines(path, limit)
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size  # allocates the file's size, not all that would be allowed
            raw = file.read(min(limit, max(size, _BLOCK)) + 1)
    except OSError as error:
        raise InputError(Fault(f"cannot be read: {reason(error)}", file=str(path))) from error
    if sheets.is_sheet(path, raw[:8]):
        lines, notes = sheets.read(path)
        return Lines(lines, "utf-8", notes)
    if len(raw) > LARGEST:
        raise InputError(Fault(f"is larger than {LARGEST // 2**30} GiB; divide it by its parameters", file=str(path)))
    ending = path.suffix.lower()
    needed = ending in records.ENDINGS
    if (needed or raw[:1] in (b"[", b"{")) and (made := _of_records(path, encoding, needed=needed)):
        return made
    cut = len(raw) > limit
    read = decoded(raw[:limit], str(path), encoding, cut=cut)
    if (found := rewritten.as_table(read.lines, ending, cut=cut)) is not None:
        return Lines(found[0], read.encoding, (*read.notes, *found[1]))
    return read


def _of_records(path: Path, encoding: str, *, needed: bool) -> Lines | None:
    """Return the records of a JSON file as a table; None without any, which is refused if they are *needed*."""
    if path.stat().st_size > records.LARGEST:
        if not needed:
            return None
        raise InputError(Fault(f"is larger than {records.LARGEST >> 20} MiB; write it as CSV", file=str(path)))
    text, name, notes = _decode(path.read_bytes(), str(path), encoding, cut=False)
    made = records.as_table(text)
    if made is None:
        if not needed:
            return None
        raise InputError(Fault(f"is JSON without records of runs; {records.EXPECTED}", file=str(path)))
    return Lines(made, name, (*notes, "records of JSON were taken as a table: line 2 is the first record"))


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(8)
    except OSError as error:
        raise InputError(Fault(f"cannot be read: {reason(error)}", file=str(path))) from error


def decoded(raw: bytes, file: str, encoding: str = "", *, cut: bool = False) -> Lines:
    """Return the lines of *raw*; with *cut* its end may be within a character or line, which is dropped."""
    text, name, notes = _decode(raw, file, encoding, cut=cut)
    place = text.find("\0")
    if place >= 0:
        line = text.count("\n", 0, place) + 1
        raise InputError(Fault("is not text: it holds a zero byte; a table of numbers was expected", file, line))
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if cut and len(lines) > 1:
        lines.pop()
    return Lines(_joined(lines) if '"' in text else lines, name, notes)


def _joined(lines: list[str]) -> list[str]:
    """Return *lines* with quoted cells of several lines (RFC 4180) in their first line, and blank lines in place.

    A quotation opens at the beginning of a cell and closes at its end; without such an end the lines stay as they are.
    """
    made = list(lines)
    at = 0
    while at < len(made):
        if made[at].count('"') % 2 and (opened := _OPEN.search(made[at])):
            for end in range(at + 1, min(at + _MOST_JOINED, len(made))):
                if made[end].count('"') % 2:
                    closed = _CLOSED.match(made[end])
                    words = "".join([opened[0], *made[at + 1 : end], closed[0] if closed else ""])
                    if closed and any(map(str.isalpha, words)):  # numbers alone: a quotation mark too many
                        made[at] = " ".join(line.strip() for line in made[at : end + 1])
                        made[at + 1 : end + 1] = [""] * (end - at)
                        at = end
                    break
        at += 1
    return made


def _decode(raw: bytes, file: str, encoding: str, *, cut: bool) -> tuple[str, str, tuple[str, ...]]:
    name = encoding or next((name for mark, name in _MARKS if raw.startswith(mark)), "") or _without_mark(raw)
    try:
        decoder = codecs.getincrementaldecoder(name or "utf-8")()
        return decoder.decode(raw, final=not cut), name or "utf-8", ()
    except LookupError:
        raise InputError(Fault(f"unknown encoding '{encoding}'; utf-8 or latin-1, say", key="--encoding")) from None
    except UnicodeError as error:
        if name:
            at = getattr(error, "start", 0)
            raise InputError(Fault(f"is not {name}: byte {at + 1} does not fit; say --encoding", file=file)) from None
    line = 1 + raw.count(b"\n", 0, _first_wrong(raw))
    note = f"line {line} is not UTF-8: the file was read as Latin-1; --encoding says another"
    return raw.decode("latin-1"), "latin-1", (note,)


def _without_mark(raw: bytes) -> str:
    """Return UTF-16's name if every other byte at the beginning is zero, as in Latin text without a mark."""
    head = raw[:200]
    if len(head) >= 4:
        for start, name in ((1, "utf-16-le"), (0, "utf-16-be")):
            if not any(head[start::2]) and all(head[1 - start :: 2]):
                return name
    return ""


def _first_wrong(raw: bytes) -> int:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return len(raw)
