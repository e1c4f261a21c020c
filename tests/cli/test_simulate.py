"""``scalegraph simulate``: the table, the document, the exit codes."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import RunError
from scalegraph.cli.main import run
from scalegraph.link import Job
from scalegraph.link.targets.host import Host
from scalegraph.store import Study

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

SUM = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2000;
    double *a = malloc(n * sizeof *a), sum = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] = i;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += a[i];
    printf("%s %g\n", argc > 2 ? argv[2] : "-", sum);
    return 0;
}
"""
DOCUMENTED = {
    "processors",
    "time_cycles",
    "time_s",
    "work_ops",
    "work_flops",
    "busy_s",
    "memory_stall_s",
    "idle_s",
    "primitive_s",
    "references",
    "misses",
    "invalidations",
    "latency_s",
    "efficiency",
    "speedup",
    "host_s",
    "exit_code",
    "stdout",
    "processes",
    "threads_per_process",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sum.c").write_text(SUM)
    return tmp_path


def document(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    assert run(["simulate", *arguments]) == code
    made = json.loads(capsys.readouterr().out)
    assert isinstance(made, dict)
    return made


def test_without_the_reference_only_the_named_counts_run(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("sum.c", "-p", "2,4", "--no-reference", "--stdin", os.devnull, "--json", "-o", "two.sgstudy")
    made = document(capsys, *arguments, "--", "100")
    assert [(row["processors"], row["speedup"], row["efficiency"]) for row in made["runs"]] == [
        (2, None, None),
        (4, None, None),
    ]
    with Study.open(place / "two.sgstudy") as study:
        assert sorted(record.point.processors for record in study.runs()) == [2, 4]


def test_document_has_what_the_specification_names(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = document(capsys, "sum.c", "-m", "ksr1", "-p", "1,4", "--json", "--", "3000", "{x}")
    assert (made["program"], made["machine"]) == ("sum", "ksr1")
    one, four = made["runs"]
    assert [row["processors"] for row in made["runs"]] == [1, 4]
    assert set(four) >= DOCUMENTED
    assert four["stdout"] == "{x} 4.4985e+06\n"
    assert (four["processes"], four["threads_per_process"]) == (None, None)  # not an MPI program
    assert (four["exit_code"], four["status"], four["message"]) == (0, "ok", "")
    assert four["speedup"] == pytest.approx(one["time_s"] / four["time_s"])
    assert four["efficiency"] == pytest.approx(four["speedup"] / 4)


def test_latency_is_the_overhead_of_a_processor(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, four = document(capsys, "sum.c", "-p", "1,4", "--json")["runs"]
    stall = four["memory_stall_s"] - one["memory_stall_s"]
    assert four["latency_s"] == pytest.approx((stall + four["idle_s"] + four["primitive_s"]) / 4)
    assert four["latency_method1_s"] == pytest.approx(four["time_s"] - one["time_s"] / 4)
    assert sum(four["leaves"].values()) == 4 * four["time_cycles"]


def test_one_processor_run_is_made_but_not_shown_unless_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (four,) = document(capsys, "sum.c", "-p", "4", "--json")["runs"]
    assert four["processors"] == 4
    assert four["speedup"] is not None


def test_document_is_the_same_twice_but_for_host_time(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = [document(capsys, "sum.c", "-p", "1,8", "--json") for _ in range(2)]
    for one in made:
        for row in one["runs"]:
            del row["host_s"]
    assert made[0] == made[1]


def test_table_has_a_row_for_every_count_with_units(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "sum.c", "-m", "ksr1", "-p", "1,2,4", "--show-output"]) == 0
    captured = capsys.readouterr()
    assert "--- output of N = 4\n- 1.999e+06\n" in captured.out
    title, header, *rows = captured.out.splitlines()[-5:]
    assert title.startswith("sum on KSR-1")
    assert re.match(r"N +time \((ms|µs|us)\) +speedup +E +L\(W,N\) \(\w+\) +busy/NT", header.strip())
    assert [row.split()[0] for row in rows] == ["1", "2", "4"]
    times = [float(row.split()[1]) for row in rows]  # one prefix, in the header, so that numbers can be compared
    speedups = [float(row.split()[2]) for row in rows]
    assert [times[0] / time for time in times] == pytest.approx(speedups, rel=0.01)
    assert "[3/3]" in captured.err


def test_machine_and_its_values_can_be_changed(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow = document(capsys, "sum.c", "-m", "ksr1", "-p", "1", "--json")["runs"][0]
    fast = document(capsys, "sum.c", "-m", "ksr1", "-p", "1", "--set", "processor.clock_mhz=40", "--json")["runs"][0]
    assert fast["time_s"] == pytest.approx(slow["time_s"] / 2)
    other = document(capsys, "sum.c", "-p", "1", "-m", "server-2x32", "--json")
    assert other["machine"] == "server-2x32"


def test_an_own_program_runs_on_a_server_and_a_shipped_one_on_the_machine_of_the_papers(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = document(capsys, "sum.c", "--json", "--", "200")
    assert own["machine"] == "server-2x32"
    assert [row["processors"] for row in own["runs"]] == [1, 2, 4, 8, 16, 32, 64]
    small = document(capsys, "sum.c", "--machine", "bus-smp", "--json", "--", "200")
    assert [row["processors"] for row in small["runs"]] == [1, 2, 4, 8, 16, 32]
    shipped = document(capsys, "ge2", "-p", "1", "--json", "--", "40")
    assert shipped["machine"] == "ksr1"


def test_runs_are_kept_in_a_study_and_not_run_again(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "sum.c", "-p", "1,2", "-o", "kept.sgstudy"]) == 0
    capsys.readouterr()
    assert run(["simulate", "sum.c", "-p", "1,2,4", "-o", "kept.sgstudy"]) == 0
    assert capsys.readouterr().err.count("already in the study") == 2
    with Study.open(place / "kept.sgstudy") as study:
        assert sorted(record.point.processors for record in study.runs()) == [1, 2, 4]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0", "0 processors: expected 1 to 1088"),
        ("1089", "1089 processors: expected 1 to 1088, the limit of machine 'ksr1'"),
        ("-3", "'-3' is not a processor count"),
        ("2x", "'2x' is not a processor count"),
        ("8-4", "'8-4' runs backwards"),
        ("", "'' is not a processor count"),
    ],
)
def test_processor_counts_that_cannot_be_are_refused(
    place: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    assert run(["simulate", "sum.c", "--machine", "ksr1", f"--processors={text}"]) == 2
    assert words in capsys.readouterr().err


def test_everything_wrong_with_the_options_is_told_at_once(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["-p", "0", "--set", "x", "--env", "=1", "--schedule", "magic", "--cflags", "'"]
    assert run(["simulate", "sum.c", *options]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[1] for line in lines] == ["--set", "--env", "-p", "--schedule", "--cflags"]


def test_missing_source_and_machine_are_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "none.c"]) == 2
    assert "'none.c': no such file" in capsys.readouterr().err
    assert run(["simulate", "sum.c", "-m", "ksr2"]) == 2
    assert "unknown machine 'ksr2'; did you mean 'ksr1'?" in capsys.readouterr().err


def test_program_that_does_not_compile_shows_what_the_compiler_says(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "bad.c").write_text("int main(void)\n{\n    return y;\n}\n")
    assert run(["simulate", "bad.c"]) == 1
    captured = capsys.readouterr()
    assert "scalegraph: bad.c:3: 'y' undeclared" in captured.err
    assert "    3 |     return y;" in captured.err
    assert captured.out == ""


def test_failed_run_is_told_and_is_in_the_document(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "fails.c").write_text(
        "#include <omp.h>\nint main(void)\n{\n    if (omp_get_max_threads() == 2)\n        *(volatile int *)0 = 1;\n}\n"
    )
    assert run(["simulate", "fails.c", "-p", "1,2", "--json"]) == 1
    captured = capsys.readouterr()
    one, two = json.loads(captured.out)["runs"]
    assert (one["status"], two["status"]) == ("ok", "crashed")
    assert "fails.c:5" in two["message"]
    assert two["message"] in captured.err
    assert two["speedup"] is None


def test_time_limit_is_kept(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "loops.c").write_text("volatile int x;\nint main(void)\n{\n    while (!x)\n        ;\n    return 0;\n}\n")
    (one,) = document(capsys, "loops.c", "-p", "1", "--timeout", "0.2", "--json", code=1)["runs"]
    assert one["status"] == "timeout"


def test_interrupt_keeps_what_is_finished_and_says_so(place: Path) -> None:
    (place / "some.c").write_text(
        "#include <omp.h>\nvolatile int x;\nint main(void)\n{\n"
        "    while (omp_get_max_threads() == 2 && !x)\n        ;\n    return 0;\n}\n"
    )
    command = [sys.executable, "-m", "scalegraph.cli.main", "simulate", "some.c", "-p", "1,2", "-o", "kept.sgstudy"]
    process = subprocess.Popen(
        command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"LC_ALL": "C"}
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "N = 1:" in line:
            process.send_signal(signal.SIGINT)
            break
    out, err = process.communicate()
    assert process.returncode == 130
    assert "interrupted; finished runs are kept" in err
    assert "some on Two-socket server" in out
    with Study.open(place / "kept.sgstudy") as study:
        assert [record.point.processors for record in study.runs()] == [1]


def test_shipped_program_is_found_by_its_name(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (two,) = document(capsys, "ge2", "-p", "2", "--json", "--", "40")["runs"]
    assert two["stdout"].startswith("n = 40")


def test_an_executable_is_one_whatever_its_name_ends_in(tmp_path, capsys, monkeypatch):
    """Benchmarks name programs by problem class: lu.S is not assembler, cg.C is not C++."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sum.c").write_text(SUM)
    for command in ("scalegraph-cc -fopenmp sum.c -o sum.S", "scalegraph-cc -fopenmp sum.c -o sum.C"):
        name = command.split()[-1]
        assert run(["simulate", "--build", command, "--exe", name, "-p", "1", "--machine", "ksr1"]) == 0
        capsys.readouterr()
        assert run(["simulate", name, "-p", "2", "--machine", "ksr1", "--json", "--", "100", "x"]) == 0
        assert json.loads(capsys.readouterr().out)["runs"][-1]["stdout"] == "x 4950\n"


def test_what_if_runs_are_shown_beside_the_actual_ones(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--what-if", "sync,contention+cache", "--speedup", "line:sum.c:10=inf"]
    found = document(capsys, "sum.c", "-p", "1,4", *asked, "--json", "-o", "s.sgstudy")
    assert [run["processors"] for run in found["runs"]] == [1, 4]
    labels = ["free synchronisation", "no contention, infinite caches", "sum.c:10 x inf"]
    assert sorted({run["label"] for run in found["what_if"]}) == sorted(labels)
    free = next(run for run in found["what_if"] if run["label"] == labels[0] and run["processors"] == 4)
    actual = found["runs"][1]
    assert free["primitive_s"] == 0
    assert free["actual_s"] == actual["time_s"]
    assert free["gain"] == pytest.approx(actual["time_s"] / free["time_s"])
    with Study.open(place / "s.sgstudy") as study:
        assert (len(study.runs()), len(study.variants())) == (2, 6)
    assert run(["analyze", "s.sgstudy", "--what", "what-if", "-p", "4"]) == 0
    assert "free synchronisation" in capsys.readouterr().out


def test_unknown_ideals_and_targets_are_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--what-if", "chache", "--speedup", "sum.c:10=2", "--speedup", "line:sum.c:10=fast", "--speedup", "x"]
    assert run(["simulate", "sum.c", "-p", "1", *asked]) == 2
    said = capsys.readouterr().err
    for part in ("did you mean 'cache'", "'sum.c:10': expected line, region", "got 'fast'", "expected TARGET=FACTOR"):
        assert part in said
    assert run(["simulate", "sum.c", "-p", "1", "--speedup", "line:sum.c:1000=2"]) == 2
    assert "no code comes from line 1000" in capsys.readouterr().err


THREADS = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    double sum = 0;
    omp_set_num_threads(atoi(argc > 1 ? argv[1] : getenv("THREADS")));
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 400000; i++)
        sum += i;
    printf("%d %g\\n", omp_get_max_threads(), sum);
    return argc > 2 ? atoi(argv[2]) : 0;
}
"""


def test_n_in_braces_is_the_number_of_processors(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "threads.c").write_text(THREADS)
    asked = document(capsys, "threads.c", "-p", "1,4,8", "--json", "--", "{N}")["runs"]
    assert [row["stdout"].split()[0] for row in asked] == ["1", "4", "8"]
    by_variable = document(capsys, "threads.c", "-p", "1,4,8", "--json", "--env", "THREADS={N}")["runs"]
    assert [row["stdout"] for row in by_variable] == [row["stdout"] for row in asked]
    assert [row["warnings"] for row in asked] == [[], [], []]
    fixed = document(capsys, "threads.c", "-p", "1,8", "--json", "--", "8")["runs"]
    assert fixed[0]["warnings"] == [
        "up to 8 threads shared 1 processor; if an argument or a variable sets their number, write {N} for it"
    ]
    assert fixed[1]["warnings"] == []


def test_a_program_with_too_few_threads_is_remarked_on_in_the_table_and_the_views(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "threads.c").write_text(THREADS)
    assert run(["simulate", "threads.c", "-p", "2,8", "-o", "few.sgstudy", "--", "2"]) == 0
    table = capsys.readouterr().out
    assert "! N = 8: no more than 2 threads ran on 8 processors; if an argument or a variable sets" in table
    assert "! N = 1: up to 2 threads shared 1 processor" in table
    assert any(line.startswith("8 !") for line in map(str.strip, table.splitlines()))
    for view in ("runs", "speedup", "time"):
        assert run(["export", "few.sgstudy", "--view", view, "-o", f"{view}.json"]) == 0
        assert "no more than 2 threads ran on 8 processors" in (place / f"{view}.json").read_text()
    (place / "alone.c").write_text("int main(void) { return 0; }\n")
    assert run(["simulate", "alone.c", "-p", "1,4"]) == 0
    assert "! N = 4: the program never had a second thread on 4 processors" in capsys.readouterr().out
    (place / "fails.c").write_text("int main(void) { return 3; }\n")
    assert run(["simulate", "fails.c", "-p", "1,4"]) == 1
    assert "second thread" not in capsys.readouterr().out  # it may have ended before having one
    assert run(["simulate", "threads.c", "-p", "1,4", "--", "1"]) == 0
    assert "! N = 4: parallel regions had one thread on 4 processors; if an argument or a" in capsys.readouterr().out


def test_run_that_fails_without_a_record_is_a_failure_all_the_same(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(_target: Host, _job: Job, _cancel: CancelToken | None = None) -> NoReturn:
        raise RunError("the batch job was ended")

    (place / "alone.c").write_text("int main(void) { return 0; }\n")
    (place / "alone.toml").write_text('processors = [1]\n[program]\nsources = ["alone.c"]\n[target]\nname = "host"\n')
    monkeypatch.setattr(Host, "run", ended)
    assert run(["simulate", "alone.c", "-p", "1", "--target", "host"]) == 1
    assert ": failed: the batch job was ended" in capsys.readouterr().err
    assert run(["run", "alone.toml"]) == 1


def test_an_accepted_exit_code_keeps_the_numbers_with_a_mark(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "threads.c").write_text(THREADS)
    arguments = ("threads.c", "-p", "1,4", "--json")
    refused = document(capsys, *arguments, "--", "{N}", "3", code=1)["runs"]
    assert [(row["status"], row["speedup"]) for row in refused] == [("failed", None)] * 2
    kept = document(capsys, *arguments, "--accept-exit", "3", "--", "{N}", "3")["runs"]
    assert [(row["status"], row["exit_code"]) for row in kept] == [("ok", 3)] * 2
    assert kept[1]["speedup"] > 1
    assert all(row["warnings"] == ["ended with exit code 3, which is accepted"] for row in kept)
    assert document(capsys, *arguments, "--accept-exit", "4", "--", "{N}", "3", code=1)["runs"][0]["status"] == "failed"


def test_a_program_that_needs_more_than_the_machine_has_ends_with_the_sentence(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["sum.c", "-p", "1", "--json", "--set", "nodes.memory_mib=1", "--"]
    assert document(capsys, *words, "10000")["runs"][0]["status"] == "ok"
    ended = document(capsys, *words, "1000000", code=1)["runs"][0]
    assert ended["status"] == "out_of_memory"
    assert "the machine has 1048576 bytes of memory (nodes.memory_mib)" in ended["message"]


def test_a_faster_loop_never_makes_an_out_of_order_core_slower(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Removed time used to count as elapsed for the pipeline model: a loop made free took five times as long."""
    (place / "serial.c").write_text(
        "static double a[400000];\nint main(void)\n{\n#pragma omp parallel for\n    for (int i = 0; i < 400000; i++)\n"
        "        a[i] += i;\n    for (int i = 0; i < 200000; i++)\n        a[i] *= 1.5;\n    return 0;\n}\n"
    )
    factors = ("2", "8", "64", "inf")
    faster = [f"--speedup=line:serial.c:7-8={factor}" for factor in factors]
    made = document(capsys, "serial.c", "-p", "8", "--no-reference", "--json", "--machine", "server-2x32", *faster)
    times = {row["label"].split(" x ")[1]: row["time_s"] for row in made["what_if"]}
    ordered = [made["runs"][0]["time_s"], *(times[factor] for factor in factors)]
    assert ordered == sorted(ordered, reverse=True)
    assert ordered[-1] < 0.8 * ordered[0]
    capsys.readouterr()
    assert run(["simulate", "serial.c", "-p", "8", "--no-reference", "--speedup=region:#1=2"]) == 0
    table = capsys.readouterr().out
    assert re.search(r"^main \(serial\.c:2\) x 2 +8 .* –$", table, re.MULTILINE), table
