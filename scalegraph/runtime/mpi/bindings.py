"""The C functions behind Fortran's calls: arguments by reference, handles as integers, strings with a hidden length.

``mpif.h``, ``use mpi`` and ``use mpi_f08`` all lead here: a handle of ``mpi_f08`` is a type with one integer, and an
omitted ``ierror`` is a null pointer. Calls that differ between Fortran and C are in ``csrc/fortran``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from scalegraph.runtime.mpi.header import HANDLES, LOGICAL, Function, Parameter

_TYPES: Final = {"int": "int", "aint": "MPI_Aint", "offset": "MPI_Offset", "count": "MPI_Count"}
# Handles that these calls read before they change them.
_CHANGED: Final = re.compile(
    r"MPI_(.*_free|Type_commit|File_close|Cancel|Start|Startall|Test.*|Wait.*|Mrecv|Imrecv|Comm_disconnect)"
)
_INDEX: Final = ("index", "indx")


def bindings(functions: Iterable[Function]) -> str:
    """Return the C source of the functions behind Fortran's calls of *functions*."""
    return "\n".join(['#include "sg_fortran.h"\n', *map(_binding, functions)])


def _binding(function: Function) -> str:
    name = function.name.lower()
    strings = [f"size_t {one.name}_length" for one in function.parameters if one.kind == "string"]
    declared = [*map(_declared, function.parameters), "int *ierror", *strings]
    before: list[str] = []
    after: list[str] = []
    passed = [_passed(function, one, before, after) for one in function.parameters]
    body = [
        *before,
        "SG_FORTRAN_PLACE();",
        f"int code = {function.name}({', '.join(passed)});",
        *after,
        "SG_FORTRAN_DONE(ierror, code);",
    ]
    lines = "\n".join(f"    {line}" for line in body)
    return f"SG_FORTRAN({name}, ({', '.join(declared)}))\n{{\n{lines}\n}}\n"


def _declared(one: Parameter) -> str:
    if one.kind in _TYPES:
        return f"{_TYPES[one.kind]} *{one.name}"
    if one.kind == "function":
        return f"{one.handle} *{one.name}"
    base = {"string": "char", "choice": "void"}.get(one.kind, "int")
    return f"{base} *{one.name}"


def _passed(function: Function, one: Parameter, before: list[str], after: list[str]) -> str:
    """Return the C argument for *one*; append the code needed before and after the call to *before* and *after*."""
    name = one.name
    match one.kind:
        case "choice":
            return f"SG_FORTRAN_BUFFER({name})"
        case "status" | "statuses":
            return f"SG_FORTRAN_{one.kind.upper()}({name})"
        case "function":
            return name
        case "string":
            return _string(function, one, before, after)
        case "handle":
            return _handles(function, one, before, after) if one.array else _handle(function, one, before, after)
    if one.handle:
        return f"(void *){name}"  # rows of an array
    if name.endswith("weights") and one.array:
        return f"SG_FORTRAN_WEIGHTS({name})"
    if one.out and name in _INDEX:
        after.append(f"*{name} += *{name} >= 0;")
    if name == "array_of_indices":
        after.append(f"for (int i = 0; i < *outcount; i++)\n        {name}[i]++;")
    if one.out and not one.array and name in LOGICAL:
        after.append(f"*{name} = *{name} != 0;")
    return name if one.out or one.array else f"*{name}"


def _string(function: Function, one: Parameter, before: list[str], after: list[str]) -> str:
    name = one.name
    found = " && *flag" if "flag" in _names(function.parameters) else ""
    if not one.out:
        before.append(f"char c_{name}[{name}_length + 1];")
        before.append(f"sg_fortran_read(c_{name}, {name}, {name}_length);")
    else:
        before.append(f'char c_{name}[SG_FORTRAN_LONGEST] = "";')
        after.append(f"if (code == MPI_SUCCESS{found})\n        sg_fortran_write({name}, {name}_length, c_{name});")
    return f"c_{name}"


def _handle(function: Function, one: Parameter, before: list[str], after: list[str]) -> str:
    name, kind = one.name, HANDLES[one.handle]
    if not one.out:
        return f"MPI_{kind}_fromint(*{name})"
    changed = _CHANGED.fullmatch(function.name) and not (function.name == "MPI_Imrecv" and name == "request")
    before.append(f"{one.handle} c_{name} = {f'MPI_{kind}_fromint(*{name})' if changed else 'NULL'};")
    store = f"*{name} = MPI_{kind}_toint(c_{name});"
    after.append(store if changed else f"if (code == MPI_SUCCESS)\n        {store}")
    return f"&c_{name}"


def _handles(function: Function, one: Parameter, before: list[str], after: list[str]) -> str:
    name, kind = one.name, HANDLES[one.handle]
    before.append(f"int {name}_count = {_length(function, one)};")
    before.append(f"{one.handle} c_{name}[{name}_count > 0 ? {name}_count : 1];")
    loop = f"for (int i = 0; i < {name}_count; i++)\n        "
    before.append(f"{loop}c_{name}[i] = MPI_{kind}_fromint({name}[i]);")
    if one.out:
        after.append(f"{loop}{name}[i] = MPI_{kind}_toint(c_{name}[i]);")
    return f"c_{name}"


def _length(function: Function, one: Parameter) -> str:
    """Return the number of handles in an array."""
    names = _names(function.parameters)
    for name in ("count", "incount"):
        if name in names:
            return f"*{name}"
    if "lltoallw" not in function.name:
        raise ValueError(f"{function.name}: how many {one.name} are there?")
    every = str("neighbor" not in function.name.lower()).lower()
    if one.name.startswith("send"):
        return f"sg_fortran_send_partners(MPI_Comm_fromint(*comm), {every}, sendbuf)"
    return f"sg_fortran_receive_partners(MPI_Comm_fromint(*comm), {every})"


def _names(parameters: Sequence[Parameter]) -> set[str]:
    return {one.name for one in parameters}
