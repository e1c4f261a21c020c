"""Wrong arguments of MPI functions, one at a time: each is returned as the standard's error class, and nothing crashes.

The functions and their parameters are read from ``mpi.h``, so new functions are tested, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from scalegraph.cli.main import run as scalegraph

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

INCLUDE = Path(__file__).parents[2] / "scalegraph" / "runtime" / "include"
HEADERS = ("mpi_calls.h", "mpi_removed.h")  # functions of MPI 3.1, and those of MPI-1 removed by 3.0
DECLARED = re.compile(r"^int SCALEGRAPH_MPI\((\w+)\)\((.*)\);$", re.MULTILINE)
PARAMETER = re.compile(r"^(?P<type>.*?[\s*])(?P<name>\w+)(?P<array>(?:\[\d*\])*)$")

# Functions that end the run, that take no arguments that could be wrong, or that are not tested here: files and
# processes started later.
LEFT_OUT = re.compile(
    r"File_|Comm_(spawn|accept|connect|join)|(Open|Close)_port|(Publish|Unpublish|Lookup)_name|Register_datarep"
    r"|Abort$|.*_toint$|Init|Finalize|Pcontrol|Status_|DUP_FN|Aint|.*_(c2f|f2c|f82f|f2f08|c2f08|f082c)$|Type_create_f90"
)
VALUES = {
    "MPI_Comm": "comm",
    "MPI_Datatype": "MPI_INT",
    "MPI_Op": "MPI_SUM",
    "MPI_Group": "group",
    "MPI_Win": "win",
    "MPI_Info": "MPI_INFO_NULL",
    "MPI_Errhandler": "MPI_ERRORS_RETURN",
    "MPI_Request": "request",
    "MPI_Message": "MPI_MESSAGE_NO_PROC",
    "MPI_Aint": "0",
    "int": "1",
    "double": "1",
    "char": "'a'",
}
NAMED = {
    **dict.fromkeys(("dest", "source", "root", "target_rank", "rank", "tag", "sendtag", "recvtag"), "0"),
    "datarep": '"external32"',
    "position": "(void *)none",
    **dict.fromkeys(("outsize", "insize"), "64"),
    "remote_leader": "0",
    "split_type": "MPI_COMM_TYPE_SHARED",
    "local_leader": "0",
    "comm_keyval": "keyval",
    "keyval": "keyval",
    "type_keyval": "keyval",
    "win_keyval": "keyval",
}
# arguments for pointers, by the type pointed to and whether it is const
POINTERS = {
    ("char", True): '"text"',
    ("int", True): "ones",
    ("void", True): "data",
    ("MPI_Aint", True): "none",
    ("MPI_Datatype", True): "types",
    ("MPI_Datatype", False): "&type",
    ("MPI_Comm", False): "&other",
    ("MPI_Group", False): "&other_group",
    ("MPI_Request", False): "requests",
    ("MPI_Status", False): "statuses",
    ("MPI_Status", True): "statuses",
}
# wrong arguments of each type, with the error class of each
WRONG = {
    "MPI_Comm": (("MPI_COMM_NULL", "MPI_ERR_COMM"), ("(MPI_Comm)0x7ffffff", "MPI_ERR_COMM")),
    "MPI_Datatype": (("MPI_DATATYPE_NULL", "MPI_ERR_TYPE"), ("(MPI_Datatype)0x7ffffff", "MPI_ERR_TYPE")),
    "MPI_Op": (("MPI_OP_NULL", "MPI_ERR_OP"), ("(MPI_Op)0x7ffffff", "MPI_ERR_OP")),
    "MPI_Group": (("MPI_GROUP_NULL", "MPI_ERR_GROUP"), ("(MPI_Group)0x7ffffff", "MPI_ERR_GROUP")),
    "MPI_Win": (("MPI_WIN_NULL", "MPI_ERR_WIN"), ("(MPI_Win)0x7ffffff", "MPI_ERR_WIN")),
    "MPI_Request": (("(MPI_Request)0x7ffffff", "MPI_ERR_REQUEST"),),
    "MPI_Info": (("(MPI_Info)0x7ffffff", "MPI_ERR_INFO"),),
    "MPI_Errhandler": (("(MPI_Errhandler)0x7ffffff", "MPI_ERR_ERRHANDLER"),),
}
COUNTS = ["count", "sendcount", "recvcount", "incount", "outcount", "origin_count", "target_count", "result_count"]
# Arguments that the standard allows: names of null handles, results that the first rank does not get, unused arguments;
# and errors that only another object could reveal.
ALLOWED = {
    ("Comm_get_name", "MPI_COMM_NULL"),
    ("Type_get_name", "MPI_DATATYPE_NULL"),
    ("Win_get_name", "MPI_WIN_NULL"),
    ("Exscan", "recvbuf"),
    ("Iexscan", "recvbuf"),
    ("Cart_map", "periods"),
    ("Mrecv", "buf"),
    ("Imrecv", "buf"),
    ("Dist_graph_neighbors", "sourceweights"),
    ("Dist_graph_neighbors", "destweights"),
    ("Type_get_contents", "array_of_integers"),
    ("Type_get_contents", "array_of_addresses"),
    ("Type_get_contents", "array_of_datatypes"),
}
OF_GRIDS = ["Cart_coords", "Cart_get", "Cart_rank", "Cart_shift", "Cart_sub", "Cartdim_get"]
BUFFERS = [
    "buf",
    "buffer",
    "sendbuf",
    "recvbuf",
    "inbuf",
    "outbuf",
    "origin_addr",
    "result_addr",
    "compare_addr",
    "inoutbuf",
]
OF_NULL = {"key": "MPI_ERR_INFO_KEY", "value": "MPI_ERR_INFO_VALUE"}
WRONG_NUMBERS = {
    **dict.fromkeys(COUNTS, (("-1", "MPI_ERR_COUNT"),)),
    "source": (("77", "MPI_ERR_RANK"), ("-77", "MPI_ERR_RANK")),
    **dict.fromkeys(("dest", "target_rank"), tuple((rank, "MPI_ERR_RANK") for rank in ("77", "-77", "MPI_ANY_SOURCE"))),
    **dict.fromkeys(("tag", "recvtag"), (("-55", "MPI_ERR_TAG"),)),
    "sendtag": (("-55", "MPI_ERR_TAG"), ("MPI_ANY_TAG", "MPI_ERR_TAG")),
    "root": tuple((root, "MPI_ERR_ROOT") for root in ("77", "-77", "-1", "MPI_ROOT", "MPI_PROC_NULL")),
}


@dataclass(frozen=True)
class Parameter:
    """One parameter: its type without what makes it a pointer, its name, and whether it is one."""

    type: str
    name: str
    pointer: bool
    constant: bool

    @property
    def value(self) -> str:
        """Return a right argument."""
        if not self.pointer or self.name in ("datarep", "position"):
            return NAMED.get(self.name, VALUES[self.type])
        if self.type.endswith("_function"):
            return "NULL"
        return POINTERS.get((self.type, self.constant), "room")

    @property
    def wrong(self) -> tuple[tuple[str, str], ...]:
        """Return wrong arguments, each with the class of its error."""
        if not self.pointer:
            return WRONG_NUMBERS.get(self.name, WRONG.get(self.type, ()))
        if self.type == "MPI_Status":
            return ()  # MPI_STATUS_IGNORE is NULL
        if self.name in BUFFERS:
            return (("NULL", "MPI_ERR_BUFFER"),)
        if self.type == "void" or self.type.endswith("_function"):
            return ()  # a callback's extra argument, or a missing callback
        return (("NULL", OF_NULL.get(self.name, "MPI_ERR_ARG") if self.constant else "MPI_ERR_ARG"),)


def parameter(text: str) -> Parameter:
    found = PARAMETER.match(text.strip())
    assert found is not None, text
    kind, array = found["type"], found["array"]
    plain = kind.replace("const", "").replace("*", "").strip()
    return Parameter(plain, found["name"], "*" in kind or bool(array), "const" in kind)


def functions() -> Iterator[tuple[str, list[Parameter]]]:
    declared = "".join((INCLUDE / header).read_text(encoding="utf-8") for header in HEADERS)
    for name, inside in DECLARED.findall(declared):
        if not LEFT_OUT.match(name) and inside != "void":
            yield name, [parameter(text) for text in inside.split(",")]


PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
static long many[64];
static int ones[64], keyval;
static MPI_Datatype types[64], type = MPI_INT;
static MPI_Request requests[64], request = MPI_REQUEST_NULL;
static MPI_Status statuses[64];
static MPI_Comm comm, grid, other = MPI_COMM_NULL;
static MPI_Group group, other_group = MPI_GROUP_NULL;
static MPI_Win win;
static int data[64];
static MPI_Aint none[64];
static MPI_Info info;
static char attached[1000];
static void *const room = many;
static void told(const char *call, const char *wrong, int error, int expected)
{
    if (error != expected)
        printf("%s(%s) returned %d, not %d\n", call, wrong, error, expected);
}
static int cases;
CASES
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_group(comm, &group);
    MPI_Win_create(many, sizeof many, 8, MPI_INFO_NULL, comm, &win);
    MPI_Win_fence(0, win);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    for (int i = 0; i < 64; i++) {
        ones[i] = 1;
        types[i] = MPI_INT;
        requests[i] = MPI_REQUEST_NULL;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Cart_create(MPI_COMM_SELF, 1, ones, ones, 0, &grid);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
CALLS
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&grid);
    MPI_Info_free(&info);
    MPI_Comm_free_keyval(&keyval);
    printf("%d cases\n", cases);
    MPI_Finalize();
    return 0;
}
"""


def cases() -> Iterator[str]:
    """Yield a statement of C for each wrong argument of each function."""
    for name, parameters in functions():
        for place, wrong_one in enumerate(parameters):
            for value, expected in wrong_one.wrong:
                arguments = [each.value for each in parameters]
                if "eighbor_" in name or name in OF_GRIDS:
                    arguments = ["grid" if each == "comm" else each for each in arguments]
                if name.startswith("Info_"):
                    arguments = ["info" if each == "MPI_INFO_NULL" else each for each in arguments]
                arguments[place] = value
                arguments[place] = value
                wrong = f"{wrong_one.name} = {value}"
                if (name, wrong_one.name) not in ALLOWED and (name, value) not in ALLOWED:
                    yield (
                        f'    told("MPI_{name}", "{wrong}", MPI_{name}({", ".join(arguments)}), {expected}); cases++;\n'
                    )


def test_each_wrong_argument_is_returned_as_its_class(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    statements = list(cases())
    parts = [statements[at : at + 50] for at in range(0, len(statements), 50)]  # gcc's time grows quadratically
    texts = [f"static void part{i}(void)\n{{\n{''.join(part)}}}\n" for i, part in enumerate(parts)]
    calls = [f"    part{i}();\n" for i in range(len(parts))]
    Path("p.c").write_text(PROGRAM.replace("CASES\n", "".join(texts)).replace("CALLS\n", "".join(calls)))
    assert scalegraph(["simulate", "p.c", "-p", "1", "--machine", "cm5", "--no-reference", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert row["stdout"].splitlines() == [f"{len(statements)} cases"]
    assert len(statements) > 300
    assert row["warnings"] == []


DIMENSIONS = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    static const int asked[][4] = {{72, 0, 0, 1}, {1000000000, 0, 0, 0}, {999999937, 0, 0, 1}, {720720, 0, 0, 0},
                                   {1000, 0, 10, 0}, {7, 7, 1, 0}};
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 6; i++) {
        int sizes[3] = {asked[i][1], asked[i][2], asked[i][3]};
        MPI_Dims_create(asked[i][0], 3, sizes);
        printf("%d %d %d\n", sizes[0], sizes[1], sizes[2]);
    }
    MPI_Comm grid = MPI_COMM_WORLD;
    int sizes[2] = {2, 2}, periods[2] = {0, 0};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int error = MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
    printf("%d\n", error == MPI_ERR_DIMS && grid == MPI_COMM_NULL);
    MPI_Finalize();
    return 0;
}
"""


def test_sizes_of_a_grid_are_as_close_as_possible(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.c").write_text(DIMENSIONS)
    assert scalegraph(["simulate", "p.c", "-p", "1", "--no-reference", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    first, *rest = row["stdout"].splitlines()
    assert first == "9 8 1"  # placing prime factors one by one, the largest first, would give 12 and 6
    assert rest == ["1000 1000 1000", "999999937 1 1", "91 90 88", "10 10 10", "7 1 1", "1"]
