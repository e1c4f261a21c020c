"""Fortran's MPI interface is generated from mpi.h: its constants and functions, and their Fortran forms."""

from __future__ import annotations

from scalegraph.runtime.mpi import bindings, header, modules
from scalegraph.toolchain.mpi import INCLUDE

HEADER = header.text_of(INCLUDE)
# Their addresses are integers of four bytes in Fortran: csrc/fortran/sg_fortran_removed.c.
REMOVED = {
    "MPI_Address",
    "MPI_Errhandler_create",
    "MPI_Errhandler_get",
    "MPI_Errhandler_set",
    "MPI_Type_extent",
    "MPI_Type_hindexed",
    "MPI_Type_hvector",
    "MPI_Type_lb",
    "MPI_Type_struct",
    "MPI_Type_ub",
}


def test_constants_are_those_of_c() -> None:
    values = {one.name: one.value for one in header.constants(HEADER)}
    assert (values["MPI_COMM_WORLD"], values["MPI_ANY_SOURCE"], values["MPI_DOUBLE"]) == (0x101, -1, 0x214)
    assert "PARAMETER (MPI_MAX_PROCESSOR_NAME=255)" in modules.mpif(header.constants(HEADER))  # C's has an end


def test_every_function_of_the_header_is_bound_or_known_to_differ() -> None:
    known = {one.name for one in (*header.functions(HEADER), *modules.more_functions())}
    handles = ("c2f", "f2c", "toint", "fromint")
    left = {name for name in header.declared(HEADER) - known if not name.isupper() and not name.endswith(handles)}
    assert left == {
        "MPI_Aint_add",
        "MPI_Aint_diff",
        "MPI_Comm_spawn",
        "MPI_Comm_spawn_multiple",
        "MPI_Pcontrol",
        "MPI_Register_datarep",
        "MPI_Wtick",
        "MPI_Wtime",
        *REMOVED,
    }


def test_indices_count_from_one_and_logicals_are_one_or_zero() -> None:
    made = bindings.bindings(one for one in header.functions(HEADER) if one.name in ("MPI_Waitany", "MPI_Iprobe"))
    assert "+= *" in made
    assert "*flag = *flag != 0;" in made
