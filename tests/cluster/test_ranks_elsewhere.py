"""MPI programs measured on other computers: with stand-ins for salloc, srun and ssh, and workers of Dask."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError, MissingTool, RunError
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control import build, links_mpi, sources_use_mpi
from scalegraph.link import Build, Job, Measuring, RunOptions, targets
from scalegraph.link.cluster.order import Parcel, pack_order, unpack_order
from scalegraph.link.cluster.places import parse
from scalegraph.link.targets import _nodes
from scalegraph.link.tracing import TraceOrder
from scalegraph.machine import Machine
from scalegraph.request import Session, load_request
from scalegraph.runtime.format import TRACED
from scalegraph.toolchain import host_mpi as library
from scalegraph.toolchain.host_mpi import HostMpi, host_mpi
from scalegraph.traces.checking import check
from scalegraph.traces.reading import read
from tests.cluster.conftest import Gate

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

RANKS = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, size, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d of %d\n", all, size);
    MPI_Finalize();
    return 0;
}
"""
# A batch job of two nodes that runs a command; a byte in the pipe ends it.
SALLOC = r"""
echo "$*" >> PLACE/said
while [ "${1#--}" != "$1" ]; do shift; done
export SLURM_JOB_ID=7 SLURM_JOB_NUM_NODES=2 'SLURM_JOB_NODELIST=node[1-2]'
echo "salloc: Granted job allocation 7" >&2
exec 3<&0
trap 'kill -TERM $child' TERM
"$@" <&3 3<&- &
child=$!
exec 3<&-
if [ -p PLACE/end ]; then
    read -r _ < PLACE/end
    kill -TERM $child
    echo "salloc: Job allocation 7 has been revoked." >&2
fi
wait $child
"""
SRUN = r"""
echo "$*" >> PLACE/said
while [ "${1#--}" != "$1" ]; do case $1 in --ntasks=*) ranks=${1#*=};; esac; shift; done
unset SLURM_JOB_ID SLURM_JOB_NUM_NODES SLURM_JOB_NODELIST
"""
BEGINS = 'exec "MPIRUN" -n $ranks "$@"\n'
SSH = 'while [ "$1" = -o ]; do shift 2; done\nshift\nexec sh -c "$*"\n'


@pytest.fixture(autouse=True)
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-ins for the commands: they log their arguments to the returned file and run on this computer."""
    try:
        mpirun = host_mpi().mpirun
    except MissingTool as error:
        pytest.skip(str(error))
    if mpirun is None or host_mpi().open_mpi:
        pytest.skip("the ranks are started as MPICH does it")
    for name in [name for name in os.environ if name.startswith("SLURM")]:
        monkeypatch.delenv(name)
    place = tmp_path / "bin"
    place.mkdir()
    monkeypatch.setenv("PATH", f"{place}:/usr/bin:/bin")
    script(place / "said", "salloc", SALLOC)
    script(place / "said", "srun", SRUN + BEGINS.replace("MPIRUN", str(mpirun)))
    script(place / "said", "ssh", SSH)
    return place / "said"


def script(commands: Path, name: str, text: str) -> None:
    path = commands.parent / name
    path.write_text("#!/bin/sh\n" + text.replace("PLACE", str(commands.parent)))
    path.chmod(0o755)


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Build:
    place = tmp_path_factory.mktemp("ranks")
    (place / "ranks.c").write_text(RANKS)
    try:
        return build(["ranks.c"], cwd=place, builds="mpi")
    except MissingTool as error:
        pytest.skip(str(error))


ONCE = Measuring(pin="none", disturbed=100, warm_up=0)


@pytest.fixture
def measured(ranks: Build, ksr1: Machine, tmp_path: Path) -> Callable[..., RunRecord]:
    """Return a function that measures the ranks on a target with settings."""

    def run(name: str = "slurm", processors: int = 2, **settings: str) -> RunRecord:
        point = RunPoint(processors=processors, target=name)
        job = Job(ranks, ksr1, point, cwd=tmp_path, measuring=ONCE, settings=settings)
        return targets.named(name).run(job)

    return run


@pytest.mark.slow
def test_ranks_get_nodes_of_slurm_and_srun_starts_them(
    measured: Callable[..., RunRecord], commands: Path, tmp_path: Path
) -> None:
    record = measured(launcher="srun", nodes="2", partition="night", time="10")
    assert (record.status, record.source, record.machine) == ("ok", "measured", "node[1-2]")
    assert (record.processes, record.stdout) == (2, "1 of 2\n")
    assert record.categories
    assert "prim_collective" in record.categories
    allocated, started = commands.read_text().splitlines()
    assert allocated.startswith(
        "--kill-command=TERM --ntasks=2 --cpus-per-task=1 --nodes=2 --ntasks-per-node=1 --job-name=scalegraph "
        "--exclusive --partition=night --time=10 "
    )
    assert started.startswith("--quiet --ntasks=2 --cpus-per-task=1 --mpi=pmi2 --cpu-bind=none --kill-on-bad-exit=1 ")
    assert not list(tmp_path.glob(".scalegraph-mpi-*"))


@pytest.mark.slow
def test_ranks_on_nodes_of_slurm_are_traced(ranks: Build, ksr1: Machine, tmp_path: Path) -> None:
    job = Job(
        ranks,
        ksr1,
        RunPoint(processors=2, target="slurm"),
        cwd=tmp_path,
        measuring=ONCE,
        settings={"launcher": "srun"},
        trace=TraceOrder(tmp_path / "traces", "run", TRACED, identity="x"),
    )
    record = targets.named("slurm").run(job)
    assert record.trace is not None, record.warnings
    assert record.trace.path == str(tmp_path / "traces" / "run.sgtrace")
    with read(Path(record.trace.path)) as trace:
        assert check(trace).violations == []
        assert set(trace.columns("collectives", ("location",))["location"].tolist()) == {0, 1}
    assert not list(tmp_path.glob(".scalegraph-mpi-*"))


def words(ranks: Build, ksr1: Machine, processors: int, threads: int, **settings: str) -> Sequence[str]:
    point = RunPoint(processors=processors, target="slurm")
    job = Job(ranks, ksr1, point, settings=settings, options=RunOptions(threads_per_process=threads))
    return [word for word in targets.named("slurm")._salloc(job) if "nodes" in word or "task" in word or "node" in word]  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("processors", "threads", "settings", "expected"),
    [
        (6, 1, {}, ["--ntasks=6", "--cpus-per-task=1"]),
        (6, 1, {"nodes": "2"}, ["--ntasks=6", "--cpus-per-task=1", "--nodes=2", "--ntasks-per-node=3"]),
        (1, 1, {"nodes": "2"}, ["--ntasks=1", "--cpus-per-task=1", "--nodes=1", "--ntasks-per-node=1"]),
        (8, 2, {"ranks_per_node": "3"}, ["--ntasks=4", "--cpus-per-task=2", "--ntasks-per-node=3"]),
    ],
)
def test_nodes_have_even_shares_of_the_ranks(
    ranks: Build, ksr1: Machine, processors: int, threads: int, settings: dict[str, str], expected: list[str]
) -> None:
    assert words(ranks, ksr1, processors, threads, **settings) == expected


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"nodes": "x"}, "'x' is not a number of nodes"),
        ({"nodes": "0"}, "'0' is not a number of nodes"),
        ({"nodes": "1", "ranks_per_node": "1"}, "2 ranks: nodes=1 with ranks_per_node=1 have room for 1"),
        ({"launcher": "prun"}, "'prun' is not a launcher; expected mpirun or srun"),
        ({"pmi": "-x"}, "'-x' is not an interface between srun and MPI"),
    ],
)
def test_what_cannot_be_is_refused_before_slurm_is_asked(
    settings: dict[str, str], sentence: str, measured: Callable[..., RunRecord], commands: Path
) -> None:
    with pytest.raises(InputError, match=sentence):
        measured(**settings)
    assert not commands.exists()


def test_srun_outside_of_a_batch_job_is_refused(measured: Callable[..., RunRecord]) -> None:
    with pytest.raises(InputError, match="in a batch job of Slurm only; expected target 'slurm', or salloc before"):
        measured("mpi", launcher="srun")


@pytest.mark.slow
def test_nodes_are_for_programs_of_mpi(ksr1: Machine, tmp_path: Path, commands: Path) -> None:
    (tmp_path / "one.c").write_text("int main(void) { return 0; }\n")
    alone = build(["one.c"], cwd=tmp_path, builds="host")
    job = Job(alone, ksr1, RunPoint(processors=1, target="slurm"), settings={"nodes": "2"})
    with pytest.raises(InputError, match="is for programs of MPI; this one has one process"):
        targets.named("slurm").run(job)
    assert not commands.exists()


def test_a_job_that_no_partition_can_hold_fails_the_run_in_place_of_waiting(
    measured: Callable[..., RunRecord], commands: Path
) -> None:
    script(
        commands,
        "salloc",
        'echo "salloc: Requested partition configuration not available now" >&2\n'
        'echo "salloc: job 9 queued and waiting for resources" >&2\nexec sleep 1000\n',
    )
    with pytest.raises(
        RunError, match=r"^Slurm: the run gets no nodes: Requested partition configuration not available now$"
    ):
        measured()
    script(commands, "salloc", 'echo "salloc: error: Requested node configuration is not available" >&2; exit 1\n')
    with pytest.raises(
        RunError, match=r"^Slurm: the run gets no nodes: Requested node configuration is not available$"
    ):
        measured()
    script(commands, "salloc", 'echo "salloc: Job allocation 9 has been revoked." >&2; exit 1\n')
    with pytest.raises(RunError, match=r"^Slurm: the run was ended there: salloc: Job allocation 9 has been revoked.$"):
        measured()


@pytest.mark.slow
def test_a_batch_job_that_is_ended_during_a_run_fails_it_and_leaves_nothing(
    gate: Gate, ksr1: Machine, commands: Path, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    os.mkfifo(commands.parent / "end")
    waits = build(["waits.c"], cwd=gate.request.parent, builds="mpi")
    arguments = (str(gate.path), str(gate.log))
    settings = {"launcher": "srun"}
    point = RunPoint(processors=1, target="slurm")
    job = Job(waits, ksr1, point, arguments, cwd=gate.request.parent, measuring=ONCE, settings=settings)

    def end() -> None:
        gate.wait_for(1, "begun")
        (commands.parent / "end").write_text("x\n")

    thread = threading.Thread(target=end)
    thread.start()
    with pytest.raises(RunError, match=r"^Slurm: the run was ended there: salloc: Job allocation 7 has been revoked.$"):
        targets.named("slurm").run(job)
    thread.join()
    eventually(lambda: not gate.programs())
    assert gate.notes() == ["begun"]
    assert not list(gate.request.parent.glob(".scalegraph-mpi-*"))


@pytest.mark.slow
def test_a_run_that_is_stopped_here_ends_its_batch_job(
    gate: Gate, ksr1: Machine, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    waits = build(["waits.c"], cwd=gate.request.parent, builds="mpi")
    arguments = (str(gate.path), str(gate.log))
    settings = {"launcher": "srun"}
    point = RunPoint(processors=1, target="slurm")
    job = Job(waits, ksr1, point, arguments, cwd=gate.request.parent, measuring=ONCE, settings=settings)
    token = CancelToken()

    def stop() -> None:
        gate.wait_for(1, "begun")
        token.cancel()

    thread = threading.Thread(target=stop)
    thread.start()
    assert targets.named("slurm").run(job, token).status == "cancelled"
    thread.join()
    eventually(lambda: not gate.programs())
    assert gate.notes() == ["begun"]
    eventually(lambda: not list(gate.request.parent.glob(".scalegraph-mpi-*")))


def test_srun_speaks_to_each_library_as_that_does(commands: Path) -> None:
    srun = str(commands.parent / "srun")
    for open_mpi, spoken in ((False, "--mpi=pmi2"), (True, "--mpi=pmix")):
        words = _nodes.srun(4, 2, {}, HostMpi("an MPI", None, open_mpi))
        assert words[:5] == [srun, "--quiet", "--ntasks=4", "--cpus-per-task=2", spoken]
    assert "--mpi=cray_shasta" in _nodes.srun(4, 2, {"pmi": "cray_shasta"}, HostMpi("an MPI", None, open_mpi=True))


@pytest.mark.slow
def test_processes_that_do_not_know_each_other_are_no_run(measured: Callable[..., RunRecord], commands: Path) -> None:
    script(commands, "srun", SRUN + '"$@" &\n"$@"\nwait\n')
    with pytest.raises(RunError, match=r"its 2 processes are an MPI program of one each: .* another setting 'pmi'"):
        measured(launcher="srun")


@pytest.mark.slow
def test_nodes_that_do_not_share_the_directory_are_one_sentence(
    measured: Callable[..., RunRecord], commands: Path, tmp_path: Path
) -> None:
    """In the form that `srun` prints, and in those of MPICH and Open MPI."""
    for said in (
        "slurmstepd-node1: error: execve(): $1: No such file or directory",
        "execvp error on file $1 (No such file or directory)",
        "mpirun could not access or execute an executable:\\nExecutable: $1",
    ):
        script(commands, "srun", f'{SRUN}printf "{said}" >&2\nexit 2\n')
        with pytest.raises(RunError, match=f"the nodes do not find the program in {tmp_path}, which all hosts have to"):
            measured(launcher="srun")


def test_mpirun_is_told_the_batch_job_that_it_is_in(
    ranks: Build, ksr1: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program does not see the user's Slurm variables, but its launcher needs them."""
    job = Job(ranks, ksr1, RunPoint(processors=2, target="mpi"))
    assert "SLURM_JOB_ID" not in targets.named("mpi").command(job)[1]  # type: ignore[attr-defined]
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "2")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "node[1-2]")
    started, variables = targets.named("mpi").command(job)  # type: ignore[attr-defined]
    assert started == host_mpi().start(2)
    assert variables["SLURM_JOB_NODELIST"] == "node[1-2]"
    assert variables["SLURM_CPU_BIND"] == "none"
    assert variables["SCALEGRAPH_PIN"] == "own"
    spread = replace(job, measuring=Measuring(pin="spread"))
    assert targets.named("mpi").command(spread)[1]["SCALEGRAPH_PIN"] == ""  # type: ignore[attr-defined]


def test_a_batch_job_of_one_node_is_elsewhere_unless_this_is_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _nodes.elsewhere()
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "1")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "node1")
    assert _nodes.names() == "node1"
    monkeypatch.setenv("SLURMD_NODENAME", "node1")  # as in a step, and in a batch script
    assert not _nodes.elsewhere()
    monkeypatch.delenv("SLURMD_NODENAME")
    monkeypatch.setattr(socket, "gethostname", lambda: "node1.site")
    assert _nodes.names() == ""


def test_an_mpi_library_without_mpirun_does_where_there_is_srun(
    monkeypatch: pytest.MonkeyPatch, commands: Path, ranks: Build, ksr1: Machine
) -> None:
    found = {"mpicc": Path(shutil.which("true") or ""), "srun": commands.parent / "srun"}
    monkeypatch.setattr(library, "_find", found.get)
    bare = library.host_mpi.__wrapped__()
    assert bare == HostMpi("MPICH", None, open_mpi=False)
    with pytest.raises(MissingTool, match="has no 'mpirun'"):
        bare.start(2)
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert _nodes.is_srun({}, bare)
    assert not _nodes.is_srun({"launcher": "mpirun"}, bare)
    found.pop("srun")
    with pytest.raises(MissingTool, match="no MPI library was found"):
        library.host_mpi.__wrapped__()


@pytest.mark.slow
def test_ranks_are_measured_on_the_computer_that_ssh_reaches(measured: Callable[..., RunRecord]) -> None:
    record = measured("ssh", host="node7")
    assert (record.status, record.machine, record.processes) == ("ok", socket.gethostname(), 2)
    assert record.stdout == "1 of 2\n"
    most = len(os.sched_getaffinity(0))
    with pytest.raises(RunError, match=f"{2 * most} processors: expected 1 to {most}, which is what target 'mpi' has"):
        measured("ssh", 2 * most, host="node7")


REQUEST = """
processors = [2]
reference = false
[program]
sources = ["ranks.c"]
[target]
name = "dask"
warm_up = 0
"""


@pytest.mark.slow
def test_ranks_are_measured_on_the_workers_of_a_cluster(site: str, tmp_path: Path) -> None:
    """The sources show that it is an MPI program, so it is built and measured as one."""
    (tmp_path / "ranks.c").write_text(RANKS)
    (tmp_path / "r.toml").write_text(REQUEST)
    request, session = load_request(tmp_path / "r.toml"), Session()
    with (
        session.elsewhere(parse(site), None) as there,
        there.submit(request, None, consent=session.consent(request)) as study,
    ):
        (run,) = study.runs(output=True)
    assert (run.status, run.processes, run.stdout) == ("ok", 2, "1 of 2\n")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.c", "#include <stdio.h>\n  #  include <mpi.h>\n", True),
        ("a.cpp", '#include "mpi.h"\n', True),
        ("a.c", "// #include <mpi.h>\n#include <mpiio.h>\nint mpi;\n", False),
        ("a.c", '#include "sub/own.h"\n', True),
        ("a.c", '#include "far.h"\n', True),
        ("a.c", '#include "absent.h"\n', False),
        ("a.f90", "program p\n  USE, intrinsic :: iso_c_binding\n  use mpi_f08\n", True),
        ("a.f90", "      include 'mpif.h'\n", True),
        ("a.f90", "! use mpi\n  use mpi_tools\n", False),
    ],
)
def test_sources_say_whether_a_program_is_one_of_mpi(name: str, text: str, expected: bool, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "own.h").write_text('#include "own.h"\n#include "mpi.h"\n')
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "far.h").write_text("#include <mpi.h>\n")
    (tmp_path / name).write_text(text)
    assert sources_use_mpi([name], [], ["-O2", "-Iinc"], tmp_path) is expected


@pytest.mark.slow
def test_executables_say_whether_they_are_of_mpi(ranks: Build, tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text("int main(void) { return 0; }\n")
    assert links_mpi(ranks.executable)
    assert not links_mpi(build(["one.c"], cwd=tmp_path, builds="host").executable)


def test_a_setting_says_it_where_the_sources_do_not() -> None:
    slurm = targets.named("slurm")
    assert slurm.built_for({}, lambda: True) == "mpi"
    assert slurm.built_for({"mpi": "no"}, lambda: True) == "host"
    assert slurm.built_for({"mpi": "yes"}, lambda: False) == "mpi"
    assert targets.named("host").built_for({}, lambda: True) == "host"
    with pytest.raises(InputError, match="'maybe' is neither yes nor no"):
        slurm.built_for({"mpi": "maybe"}, lambda: True)


def test_settings_travel_in_orders_and_equal_orders_stay_equal(ranks: Build, ksr1: Machine) -> None:
    job, parcel = (
        Job(ranks, ksr1, RunPoint(processors=2, target="slurm"), settings={"partition": "night"}),
        Parcel(ranks),
    )
    one = pack_order(job, parcel, "mpi", {"launcher": "srun", "directory": "/shared"})
    assert one == pack_order(job, parcel, "mpi", {"directory": "/shared", "launcher": "srun"})
    assert one != pack_order(job, parcel, "mpi", {"directory": "/shared"})
    there = unpack_order(one)[0].job(ranks, None)
    assert dict(there.settings) == {"launcher": "srun", "directory": "/shared"}


AFFINITY = r"""
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
int main(void)
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    for (int one = 0; one < CPU_SETSIZE; one++)
        if (CPU_ISSET(one, &set))
            printf("%d ", one);
    return 0;
}
"""


@pytest.mark.slow
def test_ranks_elsewhere_are_pinned_to_processors_that_they_have_there(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(AFFINITY)
    program = build(["p.c"], cwd=tmp_path, builds="host").executable
    mine = sorted(os.sched_getaffinity(0))
    for local in (0, 1):
        env = {"SCALEGRAPH_PIN": "own", "SCALEGRAPH_PIN_EACH": "1", "SLURM_LOCALID": str(local), "PMI_RANK": "5"}
        said = subprocess.run([str(program)], env=env, capture_output=True, text=True, check=True).stdout
        assert said.split() == [str(mine[local % len(mine)])]
