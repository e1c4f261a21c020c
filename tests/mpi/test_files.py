"""MPI files: results of calls and contents of files agree with MPICH; costs; and messages about errors."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from scalegraph.cli.main import run as scalegraph
from tests.mpi.native import MISSING, find

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

SOURCE = Path(__file__).with_name("files.c")
Simulate = Any

BEGIN = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int rank, ranks, values[4096];
static MPI_File file;
static MPI_Status status;
static MPI_Datatype type;
void backward(int first, int second)
{
    int places[2] = {first, second};
    MPI_Type_create_indexed_block(2, 1, places, MPI_INT, &type);
    MPI_Type_commit(&type);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
"""
END = "\n    MPI_File_close(&file);\n    MPI_Finalize();\n    return 0;\n}\n"


@pytest.fixture
def simulate(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Simulate:
    """Return a function that simulates given statements in a program with an open file and returns the run."""
    monkeypatch.chdir(tmp_path)

    def simulated(body: str, processors: int, *arguments: str, code: int = 0) -> dict[str, Any]:
        Path("p.c").write_text(BEGIN + body + END)
        command = ["simulate", "p.c", "-p", str(processors), "--no-reference", "--json", *arguments]
        assert scalegraph(command) == code
        (row,) = json.loads(capsys.readouterr().out)["runs"]
        assert isinstance(row, dict)
        return row

    return simulated


def left(directory: Path) -> dict[str, bytes]:
    """Return the contents of the files in *directory* by name."""
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.parametrize(("ranks", "machine"), [(2, "server-2x32-inorder"), (4, "cluster-hdr")])
def test_calls_return_and_files_contain_what_they_do_with_mpich(
    ranks: int, machine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    native = find()
    if native is None:
        pytest.skip(MISSING)
    binary = native.compiled(SOURCE, tmp_path / "files", "-O1")
    (tmp_path / "mpich").mkdir()
    monkeypatch.chdir(tmp_path / "mpich")
    assert native.run(binary, ranks).returncode == 0
    (tmp_path / "ours").mkdir()
    monkeypatch.chdir(tmp_path / "ours")
    assert (
        scalegraph(["simulate", str(SOURCE), "-p", str(ranks), "--no-reference", "--json", "--machine", machine]) == 0
    )
    assert json.loads(capsys.readouterr().out)["runs"][0]["warnings"] == []
    expected, ours = left(tmp_path / "mpich"), left(tmp_path / "ours")
    assert all(len(expected[f"said.{rank}"].splitlines()) > 150 for rank in range(ranks))
    assert sorted(ours) == sorted(expected)
    for name, data in expected.items():
        assert ours[name] == data, name


@pytest.mark.parametrize("machine", ["ncube2", "cm5", "cluster-hdr"])
def test_the_shared_pointer_gives_every_rank_a_place_of_its_own_on_every_machine(
    simulate: Simulate, machine: str
) -> None:
    body = r"""
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    for (int i = 0; i < 5; i++)
        values[0] = 10 * rank + i, MPI_File_write_shared(file, values, 1, MPI_INT, &status);
    """
    simulate(body, 8, "--machine", machine)
    written = struct.unpack("40i", Path("data").read_bytes())
    assert sorted(written) == sorted(10 * rank + i for rank in range(8) for i in range(5))
    of_one = [value for value in written if value // 10 == 3]
    assert of_one == sorted(of_one)


RECORDS = r"""
    struct { short small; double real; int whole; } out[2] = {{-2, 0.5, 7}, {3, 1e10, -1}}, in[2];
    int lengths[3] = {1, 1, 1};
    MPI_Aint places[3] = {0, 8, 16}, extent = 0;
    MPI_Datatype parts[3] = {MPI_SHORT, MPI_DOUBLE, MPI_INT}, record;
    long far[2] = {-5, 5};
    MPI_Type_create_struct(3, lengths, places, parts, &record);
    MPI_Type_commit(&record);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL);
    MPI_File_write_at(file, 0, out, 2, record, &status);
    MPI_File_read_at(file, 0, in, 2, record, &status);
    MPI_Get_count(&status, record, &ranks);
    MPI_File_set_view(file, 28, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL);
    MPI_File_get_type_extent(file, MPI_LONG, &extent);
    MPI_File_write_at(file, 1, far, 2, MPI_LONG, &status);
    far[0] = 0;
    MPI_File_read_at(file, 1, far, 1, MPI_LONG, &status);
    printf("%d %d %g %d %ld %ld\n", ranks, in[1].small, in[1].real, in[0].whole, (long)extent, far[0]);
"""


def test_external32_is_big_endian_and_has_its_own_sizes(simulate: Simulate) -> None:
    assert simulate(RECORDS, 1)["stdout"] == "2 3 1e+10 7 4 -5\n"
    assert Path("data").read_bytes() == struct.pack(">hdihdiiii", -2, 0.5, 7, 3, 1e10, -1, 0, -5, 5)


def cost(simulate: Simulate, body: str) -> int:
    """Return the cycles of packing in a run of *body*."""
    row = simulate(body, 1, "--machine", "ncube2")
    return int(row["leaves"]["prim_pack"])


def test_a_transfer_costs_its_copy_and_two_cycles_for_each_stretch_of_the_file(simulate: Simulate) -> None:
    once = cost(simulate, "MPI_File_write(file, values, 1000, MPI_INT, &status);")
    twice = cost(simulate, "for (int i = 0; i < 2; i++) MPI_File_write(file, values, 1000, MPI_INT, &status);")
    assert (once, twice) == (4000 // 8 + 2, 2 * (4000 // 8 + 2))
    gaps = r"""
    MPI_Datatype every;
    MPI_Type_vector(1000, 1, 2, MPI_INT, &every);
    MPI_Type_commit(&every);
    MPI_File_set_view(file, 0, MPI_INT, every, "native", MPI_INFO_NULL);
    MPI_File_write(file, values, 1000, MPI_INT, &status);
    """
    assert cost(simulate, gaps) == once + 2 * 999
    assert cost(simulate, "MPI_File_read_at(file, 0, values, 1000, MPI_INT, &status);") == once


WRONG = {
    "MPI_File_read_at(file, -1, values, 1, MPI_INT, &status);": "the offset is -1",
    "MPI_File_write(file, values, -1, MPI_INT, &status);": "the count is -1",
    "MPI_File_write(file, values, 1, MPI_DATATYPE_NULL, &status);": "the datatype is MPI_DATATYPE_NULL",
    'MPI_File_set_view(file, -8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);': "the displacement of the view is -8",
    'MPI_File_set_view(file, 0, MPI_INT, MPI_BYTE, "native", MPI_INFO_NULL);': (
        "the 1 bytes of the filetype are not a multiple of the 4 bytes of the etype"
    ),
    'MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "curious", MPI_INFO_NULL);': (
        "the data representation is not native, internal or external32"
    ),
    "MPI_File_close(&file); MPI_File_write(file, values, 1, MPI_INT, &status);": "the file is MPI_FILE_NULL",
    'MPI_File_open(MPI_COMM_WORLD, "none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);': (
        "the file 'none' cannot be opened: No such file or directory"
    ),
    'MPI_File_open(MPI_COMM_WORLD, "none", 0, MPI_INFO_NULL, &file);': (
        "the mode 0 has not exactly one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR"
    ),
    'MPI_File_open(MPI_COMM_WORLD, "none", rank == 0 ? MPI_MODE_RDONLY : MPI_MODE_WRONLY, MPI_INFO_NULL, &file);': (
        "the mode is 16 on rank 0, but 256 on rank 1"
    ),
    "MPI_File_set_size(file, rank);": "the size is 0 on rank 0 of the file, but 1 on rank 1",
    "MPI_File_read_all_begin(file, values, 1, MPI_INT); MPI_File_write_all(file, values, 1, MPI_INT, &status);": (
        "MPI_File_read_all_begin is not ended yet"
    ),
    "MPI_File_write_all_begin(file, values, 1, MPI_INT); MPI_File_write_at_all_end(file, values, &status);": (
        "it does not end the operation that has begun: MPI_File_write_all_begin"
    ),
    "MPI_File_write(file, NULL, 1, MPI_INT, &status);": "the buffer is NULL, but the count is not 0",
    "MPI_File_seek(file, -3, MPI_SEEK_SET);": "the pointer would be at -3",
    'backward(3, 0); MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL);': (
        "the filetype has displacements that decrease"
    ),
    'backward(-2, 2); MPI_File_set_view(file, 0, type, type, "native", MPI_INFO_NULL);': (
        "the etype has negative displacements"
    ),
    'backward(1, 1); MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL);': (
        "the filetype overlaps itself, and the file is open for writing"
    ),
}


@pytest.mark.parametrize("call", list(WRONG))
def test_a_wrong_call_is_named_with_its_rank_and_place(simulate: Simulate, call: str) -> None:
    row = simulate(call, 2, code=1)
    line = (BEGIN + call).splitlines().index(call) + 1
    assert WRONG[call] in row["message"]
    assert "rank " in row["message"]
    assert f"p.c:{line}" in row["message"]


def test_a_file_that_is_left_open_is_named_at_the_end(simulate: Simulate) -> None:
    body = 'MPI_File other; MPI_File_open(MPI_COMM_SELF, "x", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &other);'
    (warning, *_) = simulate(body, 2)["warnings"]
    assert "1 files that it has not closed, the first of MPI_File_open" in warning


def test_ranks_that_do_not_all_come_to_a_collective_call_are_a_deadlock(simulate: Simulate) -> None:
    row = simulate("if (rank == 0) MPI_File_write_all(file, values, 1, MPI_INT, &status);", 2, code=1)
    assert "MPI_File_write_all" in row["message"]
    assert "rank " in row["message"]


FORTRAN = """
program files
  use mpi{08}
  implicit none
  integer :: rank, ierror, values(4), back(4), got, mode
  integer(kind=MPI_OFFSET_KIND) :: place, at
  {status} :: status
  {file} :: file
  character(len=20) :: datarep
  {type} :: etype, filetype
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_File_open(MPI_COMM_WORLD, 'numbers ', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierror)
  place = 16 * rank
  values = rank + (/ 1, 2, 3, 4 /)
  call MPI_File_set_view(file, place, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
  call MPI_File_write_all(file, values, 4, MPI_INTEGER, status, ierror)
  call MPI_File_get_view(file, at, etype, filetype, datarep, ierror)
  call MPI_File_get_amode(file, mode, ierror)
  at = 1
  call MPI_File_read_at(file, at, back, 2, MPI_INTEGER, status, ierror)
  call MPI_Get_count(status, MPI_INTEGER, got, ierror)
  call MPI_File_get_position(file, at, ierror)
  print '(5i4,1x,a,l2)', rank, got, back(1), back(2), int(at), trim(datarep), mode == MPI_MODE_CREATE + MPI_MODE_RDWR
  call MPI_File_close(file, ierror)
  call MPI_File_open(MPI_COMM_SELF, 'none', MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierror)
  call MPI_Error_class(ierror, got, ierror)
  if (got /= MPI_ERR_NO_SUCH_FILE) print *, 'wrong class'
  call MPI_Finalize(ierror)
end program
"""


@pytest.mark.parametrize("module", ["", "_f08"])
def test_fortran_reads_and_writes(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    typed = {"status": "type(MPI_Status)", "file": "type(MPI_File)", "type": "type(MPI_Datatype)"}
    plain = {"status": "integer, dimension(MPI_STATUS_SIZE)", "file": "integer", "type": "integer"}
    text = FORTRAN.replace("{08}", module)
    for name, kind in (typed if module else plain).items():
        text = text.replace(f"{{{name}}}", kind)
    Path("p.f90").write_text(text)
    assert scalegraph(["simulate", "p.f90", "-p", "2", "--no-reference", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    lines = sorted(line.split() for line in row["stdout"].splitlines())
    assert lines == [["0", "2", "2", "3", "4", "native", "T"], ["1", "2", "3", "4", "4", "native", "T"]]
    assert struct.unpack("8i", Path("numbers").read_bytes()) == (1, 2, 3, 4, 2, 3, 4, 5)
