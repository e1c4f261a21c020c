"""The declarations of ``mpi.h``, constants and functions, as far as Fortran has them too."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal[
    "choice", "int", "aint", "offset", "count", "handle", "status", "statuses", "string", "function"
]
HANDLES: Final = {
    "MPI_Comm": "Comm",
    "MPI_Datatype": "Type",
    "MPI_Errhandler": "Errhandler",
    "MPI_File": "File",
    "MPI_Group": "Group",
    "MPI_Info": "Info",
    "MPI_Message": "Message",
    "MPI_Op": "Op",
    "MPI_Request": "Request",
    "MPI_Win": "Win",
}
"""Types of handles, each with the name that its conversions have: ``MPI_Comm_fromint``."""
_NUMBERS: Final[dict[str, Kind]] = {"int": "int", "MPI_Aint": "aint", "MPI_Offset": "offset", "MPI_Count": "count"}
LOGICAL: Final = frozenset(
    {"flag", "commute", "reorder", "periods", "remain_dims", "high", "isfatal", "atomicity", "weighted"}
)
# Fortran has them in another form (bindings.py), or not at all: handles are integers there, and these are for C.
_OTHERWISE: Final = re.compile(
    r"MPI_(Abi_.*|Session_.*|.*_(c|c2f|f2c|c2f08|f082c|f2f08|f082f|toint|fromint)|Init(_thread)?|Pcontrol|Wtick"
    r"|Wtime|Comm_spawn(_multiple)?|Buffer_detach|Aint_(add|diff)|DUP_FN|.*_(get|set)_attr|Attr_(get|put)"
    r"|(Comm_|Type_|Win_)?[Cc]reate_keyval|Keyval_create|Register_datarep|Grequest_start|Type_get_contents|Info_get_string"
    r"|Address|Errhandler_(create|get|set)|Type_(extent|hindexed|hvector|lb|struct|ub))"
)
_PROTOTYPE: Final = re.compile(r"^(?:extern\s+)?(int|double)\s+(MPI_\w+)\s*\(([^;]*)\)[^;()]*;", re.MULTILINE)
_HANDLE_VALUE: Final = re.compile(r"^#\s*define\s+(MPI_\w+)\s+\(\((MPI_\w+)\)\s*(0x[0-9a-fA-F]+|-?\d+)\)", re.MULTILINE)
_VALUE: Final = re.compile(r"^#\s*define\s+(MPI_\w+)\s+\(?(0x[0-9a-fA-F]+|-?\d+)\)?\s*(?:/\*|$)", re.MULTILINE)
_INCLUDED: Final = re.compile(r'^#\s*include\s+"(\w+\.h)"', re.MULTILINE)
_TWICE: Final = re.compile(r"\bSCALEGRAPH_MPI\((\w+)\)")  # declared under both names, MPI_ and PMPI_
_MEMBER: Final = re.compile(r"^\s*(MPI_\w+)\s*=\s*(0x[0-9a-fA-F]+|-?\d+)\s*,?", re.MULTILINE)
_SAME: Final = re.compile(r"^#\s*define\s+(MPI_\w+)\s+(MPI_\w+)\s*(?:/\*|$)", re.MULTILINE)


@dataclass(frozen=True)
class Parameter:
    """A parameter: *out* if the call sets it, *array* if it has several elements.

    *handle*: the C type of a handle, of a function, or of an element of an array of triples.
    """

    name: str
    kind: Kind
    out: bool = False
    array: bool = False
    handle: str = ""


@dataclass(frozen=True)
class Function:
    """A function that returns an error code."""

    name: str
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True)
class Constant:
    """A constant: *type* is its handle type, ``MPI_Offset``, or empty for an integer."""

    name: str
    value: int
    type: str = ""


def text_of(include: Path) -> str:
    """Return the text of ``mpi.h`` in the directory *include*, with our headers that it includes."""
    text = (include / "mpi.h").read_text(encoding="utf-8")
    whole = _INCLUDED.sub(lambda found: (include / found[1]).read_text(encoding="utf-8"), text)
    return _TWICE.sub(r"MPI_\1", whole)


def functions(header: str, *, every: bool = False) -> list[Function]:
    """Return the functions that Fortran calls in the same way, or *every* one, in the order of the text *header*."""
    found: dict[str, Function] = {}
    for result, name, text in _PROTOTYPE.findall(_plain(header)):
        if result != "int" or (not every and _OTHERWISE.fullmatch(name)):
            continue
        parameters = [_parameter(part) for part in text.split(",") if part.strip() not in ("", "void")]
        if all(parameters):
            found.setdefault(name, Function(name, tuple(one for one in parameters if one is not None)))
    return list(found.values())


def constants(header: str) -> list[Constant]:
    """Return the constants of *header* that are numbers or handles, in order."""
    text = _plain(header)
    found = {name: Constant(name, int(value, 0)) for name, value in (*_VALUE.findall(text), *_MEMBER.findall(text))}
    for name, kind, value in _HANDLE_VALUE.findall(text):
        if kind in HANDLES or kind == "MPI_Offset":
            found[name] = Constant(name, int(value, 0), kind)
    for name, other in _SAME.findall(text):
        if other in found:
            found[name] = Constant(name, found[other].value, found[other].type)
    return list(found.values())


def declared(header: str) -> set[str]:
    """Return the names of all functions declared in *header*."""
    return set(re.findall(r"\b(MPI_\w+)\s*\(", _plain(header)))


def _plain(header: str) -> str:
    """Return *header* without comments, with each declaration on one line."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.DOTALL)
    return re.sub(r"[ \t]*\n[ \t]+(?=[^#\s])", lambda found: _joined(found, text), text)


def _joined(found: re.Match[str], text: str) -> str:
    """Return a blank for a line end inside parentheses, otherwise the line end."""
    line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()].rstrip()
    return " " if line.endswith((",", "(")) and "(" in line + "(" and "=" not in line else found[0]


def _parameter(text: str) -> Parameter | None:
    """Return the parameter declared by *text*, None if Fortran has no equivalent."""
    match = re.fullmatch(r"\s*(const\s+)?([\w ]+?)\s*((?:\*|const|\s)*)\b(\w+)\s*((?:\[\w*\])*)\s*", text)
    if match is None:
        return None
    constant, base, stars, name, brackets = match[1], match[2].strip(), match[3].count("*"), match[4], match[5]
    depth, array = stars + brackets.count("["), bool(brackets)
    out = depth > 0 and not constant
    if base == "MPI_Status" and depth == 1:
        return Parameter(name, "statuses" if array or name.startswith("array_of") else "status", out)
    if base in HANDLES and depth < 2:
        return Parameter(name, "handle", out, array, base)
    if base in _NUMBERS and depth < 2:
        return Parameter(name, _NUMBERS[base], out, array)
    if base == "int" and depth == 2 and brackets.count("[") == 2:  # ranges of processes: int ranges[][3]
        return Parameter(name, "int", out, array=True, handle=base)
    if base == "char" and depth == 1:
        return Parameter(name, "string", out)
    if base == "void" and depth == 1:
        return Parameter(name, "choice", out)
    if base.endswith(("_function", "_fn")) and depth == 1:
        return Parameter(name, "function", handle=base)
    return None
