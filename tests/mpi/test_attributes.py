"""Attributes of datatypes: those of predefined types belong to the rank that sets them, and are copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.run import RunPoint
from scalegraph.control import build
from scalegraph.link import Job, Simulated

pytestmark = pytest.mark.compiler

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
