"""Attributes of predefined types belong to the rank that sets them; Fortran and C read each other's attributes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.run import RunPoint
from scalegraph.control import build
from scalegraph.link import Job, Simulated

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <string.h>
static int add(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    *(char **)out = (char *)in + *(int *)extra;
    *flag = 1;
    return MPI_SUCCESS;
}
int main(int argc, char **argv)
{
    int rank, key, two = 2, known, others;
    char *is = NULL;
    MPI_Datatype twin;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_keyval(add, MPI_TYPE_NULL_DELETE_FN, &key, &two);
    if (rank == 1)
        MPI_Type_set_attr(MPI_INT, key, (char *)40);
    MPI_Type_dup(MPI_INT, &twin);
    MPI_Type_get_attr(twin, key, &is, &known);
    MPI_Type_get_attr(MPI_DOUBLE, key, &is, &others);
    printf("%d %d %d %d\\n", rank, known, rank == 1 ? (int)(long)is : 0, others);
    MPI_Type_free(&twin);
    MPI_Finalize();
    return 0;
}
"""


def test_a_copy_of_a_predefined_type_has_its_attributes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.c").write_text(PROGRAM)
    record = Simulated().run(Job(build(["p.c"]), machines.load("ksr1"), RunPoint(processors=2)))
    assert (record.status, record.message, sorted(record.stdout.splitlines())) == ("ok", "", ["0 0 0 0", "1 1 42 0"])


# By the rules of MPI 3.1, section 17.2.7.
MAIN = """
program main
  use mpi
  implicit none
  integer, parameter :: address = MPI_ADDRESS_KIND
  integer(kind=address), parameter :: large = -123456789012345_address
  integer :: ierr, own, old, in_c, copied, errors
  integer(kind=address) :: got
  logical :: known
  external :: copy, remove
  call MPI_Init(ierr)
  errors = 0
  call MPI_Comm_create_keyval(copy, remove, own, 0_address, ierr)
  call MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, old, 0, ierr)
  call c_keys(in_c)
  call MPI_Comm_set_attr(MPI_COMM_SELF, own, large, ierr)
  call MPI_Attr_put(MPI_COMM_SELF, old, -77, ierr)
  call MPI_Comm_set_attr(MPI_COMM_SELF, in_c, large, ierr)
  call c_reads(own, large, errors)
  call c_reads_short(old, -77, errors)
  call MPI_Comm_get_attr(MPI_COMM_SELF, old, got, known, ierr)
  if (.not. known .or. got /= -77) print *, 'Fortran reads what MPI_Attr_put has set', got
  call MPI_Comm_dup(MPI_COMM_SELF, copied, ierr)
  call MPI_Comm_get_attr(copied, own, got, known, ierr)
  if (.not. known .or. got /= large + 1) print *, 'copied by Fortran', got
  call MPI_Comm_get_attr(copied, in_c, got, known, ierr)
  if (.not. known .or. got /= large + 2) print *, 'copied by C', got
  call MPI_Comm_free(copied, ierr)
  call c_sets(own)
  call MPI_Comm_get_attr(MPI_COMM_SELF, own, got, known, ierr)
  if (.not. known .or. got /= 4096) print *, 'Fortran reads what C has set', got
  call MPI_Comm_delete_attr(MPI_COMM_SELF, own, ierr)
  call types_and_windows(errors)
  if (errors /= 0) print *, errors, 'errors in C'
  call MPI_Finalize(ierr)
  print *, 'end'
end program

subroutine types_and_windows(errors)
  use mpi
  implicit none
  integer, parameter :: address = MPI_ADDRESS_KIND
  integer :: errors, key, window, ierr
  call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, 0_address, ierr)
  call MPI_Type_set_attr(MPI_INTEGER, key, 5555_address, ierr)
  call c_reads_type(key, errors)
  call MPI_Win_create(MPI_BOTTOM, 0_address, 1, MPI_INFO_NULL, MPI_COMM_SELF, window, ierr)
  call MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, key, 0_address, ierr)
  call MPI_Win_set_attr(window, key, 6666_address, ierr)
  call c_reads_window(window, key, errors)
  call MPI_Win_free(window, ierr)
end subroutine

subroutine copy(comm, key, extra, value, new, flag, ierror)
  use mpi
  integer :: comm, key, ierror
  integer(kind=MPI_ADDRESS_KIND) :: extra, value, new
  logical :: flag
  new = value + 1
  flag = .true.
  ierror = MPI_SUCCESS
end subroutine

subroutine remove(comm, key, value, extra, ierror)
  use mpi
  integer :: comm, key, ierror
  integer(kind=MPI_ADDRESS_KIND) :: value, extra
  if (value /= -123456789012345_MPI_ADDRESS_KIND .and. value /= -123456789012344_MPI_ADDRESS_KIND &
      .and. value /= 4096) print *, 'deleted', value
  ierror = MPI_SUCCESS
end subroutine
"""

HELPERS = r"""
#include <mpi.h>
#include <stdio.h>
static const MPI_Aint large = -123456789012345;
static int copy(MPI_Comm comm, int key, void *extra, void *value, void *new, int *flag)
{
    if (*(MPI_Aint *)value != large)
        printf("C copies %ld\n", (long)*(MPI_Aint *)value);
    *(MPI_Aint *)value += 2;
    *(void **)new = value;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    if (*(MPI_Aint *)value != large + 2)
        printf("C deletes %ld\n", (long)*(MPI_Aint *)value);
    return MPI_SUCCESS;
}
void c_keys_(int *key)
{
    MPI_Comm_create_keyval(copy, delete, key, NULL);
}
void c_reads_(int *key, MPI_Aint *expected, int *errors)
{
    int flag = 0;
    MPI_Aint *value;
    MPI_Comm_get_attr(MPI_COMM_SELF, *key, &value, &flag);
    *errors += !flag || *value != *expected;
}
void c_reads_short_(int *key, int *expected, int *errors)
{
    int flag = 0, *value;
    MPI_Comm_get_attr(MPI_COMM_SELF, *key, &value, &flag);
    *errors += !flag || *value != *expected;
}
void c_reads_type_(int *key, int *errors)
{
    int flag = 0;
    MPI_Aint *value;
    MPI_Datatype copy;
    MPI_Type_dup(MPI_Type_f2c(MPI_Type_c2f(MPI_INTEGER)), &copy);
    MPI_Type_get_attr(copy, *key, &value, &flag);
    *errors += !flag || *value != 5555;
    MPI_Type_free(&copy);
}
void c_reads_window_(int *window, int *key, int *errors)
{
    int flag = 0;
    MPI_Aint *value;
    MPI_Win_get_attr(MPI_Win_f2c(*window), *key, &value, &flag);
    *errors += !flag || *value != 6666;
}
void c_sets_(int *key)
{
    int flag;
    void *value;
    MPI_Comm_set_attr(MPI_COMM_SELF, *key, (void *)4096);
    MPI_Comm_get_attr(MPI_COMM_SELF, *key, &value, &flag);
    if (value != (void *)4096)
        printf("C reads %p, which it has set itself\n", value);
}
"""


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="needs gfortran: apt-get install gfortran")
def test_an_integer_that_fortran_has_set_is_a_pointer_to_it_in_c(tmp_path: Path) -> None:
    (tmp_path / "main.f90").write_text(MAIN)
    (tmp_path / "helpers.c").write_text(HELPERS)
    built = build([tmp_path / "main.f90", tmp_path / "helpers.c"])
    record = Simulated().run(Job(built, machines.load("cluster-hdr"), RunPoint(processors=1)))
    assert (record.ok, record.stdout.split()) == (True, ["end"]), record.message
