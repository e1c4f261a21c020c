"""One declaration adds a network, an interconnect, a machine, a reader, a view, an analysis, an option of runs, a
directive or an MPI function; every list, form and file format then includes it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow(10)

Run = Callable[..., str]

NETWORK = '''"""A bus that is called a rail."""

from typing import ClassVar, Literal

from scalegraph.machine.fields import choice, quantity
from scalegraph.machine.networks.base import NetworkSection


class Rail(NetworkSection):
    """Everything takes as long."""

    private_only: ClassVar[bool] = True
    kind: Literal["rail"] = choice("Topology: a rail.")
    rail_cycles: int = quantity("Time of one passage over the rail.", "cycles", 3, 77)

    def capacity(self) -> int:
        """Return how many processors find a place."""
        return 4096

    def nodes(self) -> int:
        """Return the places of pages."""
        return 1
'''
NETWORK_C = """/* A network on which everything takes as long. */
#include "sg_net.h"

#include <stdlib.h>

static const sg_net_parameter parameters[] = {SG_RAIL_PARAMETERS};

static void *create(const sg_config *config, char *error, unsigned error_size)
{
    uint64_t *cycles = malloc(sizeof *cycles);
    (void)error;
    (void)error_size;
    if (cycles)
        *cycles = sg_config_u64(config, "rail_cycles");
    return cycles;
}

static void transact(void *net, const sg_request *r, sg_reply *reply)
{
    (void)r;
    *reply = (sg_reply){*(uint64_t *)net, 0, 1};
}

static void write_back(void *net, uint64_t now, uint32_t processor, uint64_t line, uint32_t home)
{
    (void)net, (void)now, (void)processor, (void)line, (void)home;
}

static uint32_t nodes(const void *net)
{
    (void)net;
    return 1;
}

static uint32_t node_of(const void *net, uint32_t processor)
{
    (void)net, (void)processor;
    return 0;
}

static void statistics(const void *net, sg_usage_visit *visit, void *context)
{
    (void)net, (void)visit, (void)context;
}

const sg_net_ops sg_net_rail = {"rail", parameters, create, free, transact, write_back, nodes, node_of, statistics};
"""
READER = '''"""Lines of `cores seconds` behind a mark."""

from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers.extrap_text import READER as TEXT


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    return TEXT.read(path, cancel, progress)


READER = Reader(
    "tally", "Tally sheets", (".tally",), recognises=lambda _path, head: head.startswith(b"# tally"), read=_read,
    order=1, looks="begins with # tally",
)
'''
VIEW = '''"""A picture with nothing in it."""

from scalegraph.figures.figure import Figure
from scalegraph.views.view import View

VIEW = View(
    "nothing-yet", "Nothing yet", "a view that a test adds",
    lambda data: Figure("nothing-yet", "Nothing yet", empty="Run a program to see nothing."), group="Overview",
)
'''
ANALYSIS = '''"""The number of runs."""

import pandas as pd

from scalegraph.request.results.quantity import Quantity

QUANTITY = Quantity("count-of-runs", "a test's", lambda data, _n: pd.DataFrame({"runs": [len(data.runs)]}))
'''
CLI = ("-c", "import sys; from scalegraph.cli.main import main; sys.exit(main())")
LISTED = """
import json, sys
from scalegraph.gui.base.menus import grouped
from scalegraph.machine import available
sys.path.insert(0, "docs")
import site_pages
pages = site_pages.pages()
print(json.dumps({
    "menu": [view.name for view in grouped("study")["Overview"]],
    "machines": [machine.name for machine in available()],
    "documents": "rail_cycles" in pages["machine-keys.md"] and "3 .. 77" in pages["machine-keys.md"],
}))
"""


INTERCONNECT = '''"""One channel that is called a pipe."""

from typing import Literal

from scalegraph.machine.fields import choice, quantity
from scalegraph.machine.interconnects.base import InterconnectSection


class Pipe(InterconnectSection):
    """One channel that all messages take."""

    kind: Literal["pipe"] = choice("Topology: a pipe.")
    ends: int = quantity("Nodes at the pipe.", "nodes", 1, 64)

    def capacity(self) -> int:
        """Nodes that find a place."""
        return self.ends
'''
INTERCONNECT_C = """/* One channel that all messages take. */
#include "sg_wire.h"

#include <stdio.h>
#include <stdlib.h>

static const sg_net_parameter parameters[] = {SG_WIRE_PIPE_PARAMETERS};

static void *create(const sg_config *config, uint64_t *nodes, uint64_t *links)
{
    *nodes = sg_config_wire(config, "ends");
    *links = 1;
    return malloc(1);
}

static void route(void *shape, const sg_wire *wire, uint32_t from, uint32_t to, uint64_t now, sg_route *route)
{
    (void)shape, (void)wire, (void)from, (void)to, (void)now;
    sg_route_add(route, 0);
}

static void name_link(const void *shape, uint32_t link, char *text, unsigned size)
{
    (void)shape, (void)link;
    snprintf(text, size, "pipe");
}

const sg_topology sg_wire_pipe = {"pipe", parameters, create, route, name_link, NULL};
"""
EXCHANGE = """#include <mpi.h>
int main(int argc, char **argv)
{
    int rank = 0;
    static char text[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv_replace(text, 4096, MPI_CHAR, rank ^ 1, 0, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return MPI_Finalize();
}
"""


OPTION = """
    bell_cycles: int = asked(
        default=7,
        ge=1,
        le=99,
        label="Bell",
        unit="cycles",
        help="How long a bell rings",
        option=option("--bell", metavar="C"),
        runtime="quantum_cycles",
    )

    def accepts("""
VALUE = """
    mood: str = asked(default="", label="Mood", help="How everybody is", option=option("--mood", metavar="M"))
    verify: bool = asked("""
WHO_HAS_THE_OPTION = """
import json, sys
from pathlib import Path
from types import SimpleNamespace
from PySide6.QtWidgets import QApplication
application = QApplication([])
from scalegraph import machine
from scalegraph.base.run import RunPoint
from scalegraph.cli.simulate import simulate
from scalegraph.cli.simulating.request import make_request
from scalegraph.gui.request.form import of_request, read
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.program import ProgramSection
from scalegraph.gui.request.target import RunSection
from scalegraph.link import Build, Job, simulated
from scalegraph.link.cluster.order import Parcel, pack_order, unpack_order
from scalegraph.request.model.origin import of_study
given = simulate.make_context("simulate", ["p.c", "-m", "ksr1", "-p", "1", "--bell", "8", "--mood", "calm"]).params
request, _ = make_request(given)
form = of_request(request)
section = ProgramSection(RequestModel())
section.show_form(form)
section.editors["program.bell_cycles"].textEdited.emit("9")
runs = RunSection(section.model)
runs.editors["mood"].textEdited.emit("glad")
typed, faults = read(form.but(bell_cycles=section.model.form.bell_cycles, mood=section.model.form.mood))
build = Build("p", Path(sys.executable), Path(sys.executable), Path("p.c"), (), (), (), "digest")
job = Job(build, machine.load("ksr1"), RunPoint(processors=1), options=typed.program.options)
order, _ = unpack_order(pack_order(job, Parcel(build)))
sys.path.insert(0, "docs")
import site_pages
pages = site_pages.pages()
print(json.dumps({
    "command line": [request.program.bell_cycles, request.mood],
    "form": section.editors["program.bell_cycles"].text() + form.bell_cycles,
    "typed": [typed.program.bell_cycles, typed.mood],
    "file": "bell_cycles = 8" in request.to_toml() and 'mood = "calm"' in request.to_toml(),
    "study": of_study(json.loads(request.model_dump_json()), "s").program.bell_cycles,
    "order": order.job(build, None).options.bell_cycles,
    "simulator": simulated._config(job, Path(), {}, Path("r"))["run.quantum_cycles"],
    "reference": [all(text in pages[name] for text in ("--bell", "How long a bell rings", "--mood", "How everybody is"))
                  for name in ("commands.md", "request-keys.md")],
}))
"""
DIRECTIVE = """
from scalegraph.instrument import instrument_source
for text, name in ((C, "p.c"), (FORTRAN, "p.f90")):
    print([(region.kind, region.name) for region in instrument_source(text, name, detail="all").regions][-1])
"""
COHORT_C = "void f(int x)\n{\n#pragma omp cohort\n    { x++; }\n}\n"
COHORT_FORTRAN = "subroutine f(x)\n  integer :: x\n  !$omp cohort\n  x = x + 1\n  !$omp end cohort\nend subroutine\n"
FUNCTION_C = """/* How often a rank is that of somebody else: never. */
#include "sg_mpi.h"

SG_API int PMPI_Comm_own_rank(MPI_Comm comm, int *rank)
{
    return PMPI_Comm_rank(comm, rank);
}
SG_MPI_NAME(Comm_own_rank)
"""
OWN_RANK = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank = 9;
    MPI_Init(&argc, &argv);
    MPI_Comm_own_rank(MPI_COMM_WORLD, &rank);
    printf("C %d\\n", rank);
    return MPI_Finalize();
}
"""
OWN_RANK_FORTRAN = """program p
  use mpi
  integer :: rank, error
  call MPI_Init(error)
  call MPI_Comm_own_rank(MPI_COMM_WORLD, rank, error)
  print '(a, i0)', 'Fortran ', rank
  call MPI_Finalize(error)
end program
"""


def declare(path: Path, before: str, new: str) -> None:
    """Replace *before*, which occurs once in the file *path*, by *new*."""
    text = path.read_text()
    assert text.count(before) == 1, path
    path.write_text(text.replace(before, new))


@pytest.fixture(scope="module")
def tree(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with one new file of each kind."""
    place = tmp_path_factory.mktemp("project")
    for name in ("scalegraph", "resources", "docs"):
        shutil.copytree(root / name, place / name, ignore=shutil.ignore_patterns("__pycache__", "images"))
    package = place / "scalegraph"
    new = {
        "machine/networks/rail.py": NETWORK,
        "runtime/csrc/network/sg_net_rail.c": NETWORK_C,
        "machine/interconnects/pipe.py": INTERCONNECT,
        "runtime/csrc/interconnect/sg_wire_pipe.c": INTERCONNECT_C,
        "measurements/readers/tally.py": READER,
        "views/study/overview/nothing_yet.py": VIEW,
        "request/results/analyses/count_of_runs.py": ANALYSIS,
        "runtime/csrc/mpi/sg_mpi_own_rank.c": FUNCTION_C,
    }
    for name, text in new.items():
        (package / name).write_text(text)
    declare(package / "runtime/csrc/compile.flags", "-O2\n", "-O0\n")  # optimising takes most of the simulator's build
    for name in ("often", "rarely"):
        (package / f"runtime/csrc/compile.{name}.flags").unlink()
    declare(package / "link/options.py", "\n    def accepts(", OPTION)
    declare(package / "request/model/request.py", "\n    verify: bool = asked(", VALUE)
    declare(package / "instrument/pragmas.py", '    "critical": ', '    "cohort": Word("single"),\n    "critical": ')
    calls = package / "runtime/include/mpi_calls.h"
    calls.write_text(f"{calls.read_text()}int SCALEGRAPH_MPI(Comm_own_rank)(MPI_Comm comm, int *rank);\n")
    machine = (place / "resources" / "machines" / "mesh-manycore.toml").read_text()
    head, _, rest = machine.partition("[network]")
    behind = rest[rest.index("\n[") :]
    made = head.replace('"mesh-manycore"', '"railway"') + '[network]\nkind = "rail"\nrail_cycles = 5\n' + behind
    (place / "resources" / "machines" / "railway.toml").write_text(made)
    hypercube = (place / "resources" / "machines" / "ncube2.toml").read_text()
    made = hypercube.replace('"ncube2"', '"pipeline"').replace('kind = "hypercube"', 'kind = "pipe"')
    made = made.replace("dimension = 13", "ends = 8").replace("count = 8192", "count = 8")
    (place / "resources" / "machines" / "pipeline.toml").write_text(made)
    return place


@pytest.fixture(scope="module")
def run(tree: Path) -> Run:
    """Return a function that runs Python in the copy."""

    def run(*arguments: str) -> str:
        environment = os.environ | {"PYTHONPATH": str(tree), "QT_QPA_PLATFORM": "offscreen", "COLUMNS": "200"}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tree, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    header = tree / "scalegraph" / "runtime" / "csrc" / "ground" / "sg_machine.h"
    header.write_text(run("-m", "scalegraph.runtime.machine_source"))
    return run


def test_the_command_line_lists_what_was_added(run: Run) -> None:
    assert "railway" in run(*CLI, "machines")
    assert "nothing-yet" in run(*CLI, "export", "--list")
    assert "count-of-runs" in run(*CLI, "analyze", "--list")
    assert "Tally sheets" in run(*CLI, "import", "--list-formats")


def test_the_window_and_the_reference_list_what_was_added(run: Run) -> None:
    pytest.importorskip("mkdocs", reason="needs mkdocs: pip install 'scalegraph[docs]'")
    listed = json.loads(run("-c", LISTED).splitlines()[-1])
    assert "nothing-yet" in listed["menu"]
    assert "railway" in listed["machines"]
    assert listed["documents"]


def test_values_of_a_request_reach_whatever_asks_for_them_keeps_them_and_carries_them(run: Run) -> None:
    pytest.importorskip("mkdocs", reason="needs mkdocs: pip install 'scalegraph[docs]'")
    pytest.importorskip("PySide6.QtWidgets", reason="the window needs Qt and its libraries", exc_type=ImportError)
    assert json.loads(run("-c", WHO_HAS_THE_OPTION).splitlines()[-1]) == {
        "command line": [8, "calm"],
        "form": "88",
        "typed": [9, "glad"],
        "file": True,
        "study": 8,
        "order": 9,
        "simulator": "9",
        "reference": [True, True],
    }


def test_a_directive_is_a_region_in_each_language(run: Run) -> None:
    script = f"C, FORTRAN = {COHORT_C!r}, {COHORT_FORTRAN!r}\n{DIRECTIVE}"
    assert run("-c", script).splitlines() == ["('single', 'cohort f:3')"] * 2


@pytest.mark.compiler
def test_a_program_runs_on_the_new_network(run: Run, tree: Path) -> None:
    (tree / "p.c").write_text("volatile int a[9999];\nint main(void)\n{\n    return a[77] = a[7777];\n}\n")
    simulate = (*CLI, "simulate", "p.c", "-m", "railway", "-p", "1", "--json")
    times = [
        json.loads(run(*simulate, "--set", f"network.rail_cycles={cycles}"))["runs"][0]["time_cycles"]
        for cycles in (5, 70)
    ]
    assert times[0] < times[1]


@pytest.mark.compiler
def test_a_program_sends_messages_over_the_new_interconnect(run: Run, tree: Path) -> None:
    (tree / "e.c").write_text(EXCHANGE)
    simulate = (*CLI, "simulate", "e.c", "-m", "pipeline", "-p", "2,8", "--no-reference", "--json")
    alone, shared = (one["time_cycles"] for one in json.loads(run(*simulate))["runs"])
    assert shared > alone + 2 * 4096 * 10  # 8 messages take turns on the channel, at 10 cycles a byte; two did before


@pytest.mark.compiler
@pytest.mark.parametrize(("name", "text", "said"), [("own.c", OWN_RANK, "C"), ("own.f90", OWN_RANK_FORTRAN, "Fortran")])
def test_programs_call_the_new_mpi_function(run: Run, tree: Path, name: str, text: str, said: str) -> None:
    if name.endswith(".f90") and shutil.which("gfortran") is None:
        pytest.skip("gfortran is not installed")
    (tree / name).write_text(text)
    done = json.loads(run(*CLI, "simulate", name, "-m", "ksr1", "-p", "2", "--no-reference", "--json"))
    assert sorted(done["runs"][0]["stdout"].splitlines()) == [f"{said} 0", f"{said} 1"]
