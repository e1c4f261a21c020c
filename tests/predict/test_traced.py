"""Prediction from traces: loops in the operations of ranks, patterns, and MPI programs with a known large run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalegraph.cli.main import main
from scalegraph.predict import graph as graphs
from scalegraph.predict.traced.fold import Folded, Leaf, Loop, Node, fold
from scalegraph.predict.traced.graphs import rank_model
from scalegraph.predict.traced.operations import COLLECTIVE, read_operations
from scalegraph.predict.traced.patterns import Pattern, Series
from scalegraph.request.run.predicting import predict_traces
from scalegraph.traces.model import Region
from scalegraph.traces.reading import read

pytestmark = pytest.mark.slow


def command(*args: str, code: int = 0) -> None:
    """Run a command; check its exit code."""
    with pytest.raises(SystemExit) as ended:
        main(list(args))
    assert ended.value.code == code


def text(nodes: Sequence[Node]) -> str:
    """Return nodes in short form: ``(a b2)3`` is a loop of three passes, with b twice in all."""
    parts = []
    for node in nodes:
        times = str(node.passes) if node.passes > 1 else ""
        parts.append((str(node.symbol) if isinstance(node, Leaf) else f"({text(node.body)})") + times)
    return " ".join(parts)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("abc", "a b c"),
        ("aaa", "a3"),
        ("ababab", "(a3 b3)3"),
        ("xaabaabaaby", "x (a6 b3)3 y"),
        ("pqqrpqqqqrpqr", "(p3 q7 r3)3"),  # the inner count differs between passes
        ("pababrpababababrpabrpr", "(p4 (a7 b7)7 r4)4"),  # an inner loop with one pass, and with none
    ],
)
def test_repeated_patterns_become_loops(word: str, expected: str) -> None:
    assert text(fold(word).nodes) == expected


WORDS = st.recursive(
    st.text("abcd", min_size=1, max_size=3),
    lambda inner: st.tuples(st.lists(inner, min_size=1, max_size=3), st.integers(1, 5)).map(
        lambda pair: "".join(pair[0]) * pair[1]
    ),
    max_leaves=8,
)


@given(WORDS)
def test_a_folded_sequence_counts_every_operation_once(word: str) -> None:
    folded = fold(word)
    leaves = list(folded.leaves())
    assert len(folded.leaf_of) == len(word)
    assert [leaves[number].symbol for number in folded.leaf_of] == list(word)
    assert Counter(folded.leaf_of) == {number: leaf.passes for number, leaf in enumerate(leaves)}
    assert loops_have_operations(folded)


def loops_have_operations(folded: Folded) -> bool:
    def loops(nodes: Sequence[Node]) -> Iterator[Loop]:
        for node in nodes:
            if isinstance(node, Loop):
                yield node
                yield from loops(node.body)

    return all(loop.body and loop.passes >= loop.entries for loop in loops(folded.nodes))


def test_the_large_run_of_an_mpi_program_is_predicted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tmp_path / "halo.graph.toml"
    command(
        "predict",
        "halo2d",
        "-m",
        "cluster-hdr",
        "-p",
        "4",
        "--samples",
        "size=32,64",
        "--at",
        "size=128",
        "--verify",
        "--json",
        "--graph",
        str(graph),
    )
    (point,) = json.loads(capsys.readouterr().out)["predictions"]
    assert point["error"] < 0.15  # the samples' data fit in the first cache, the run's do not
    assert point["low_s"] <= point["time_s"] <= point["high_s"]
    parts = sum(region["time_s"] for region in point["regions"]) + point["events_s"] + point["waiting_s"]
    assert parts == pytest.approx(point["time_s"])
    drawn = graphs.load(graph)
    assert [one.name for one in drawn.classes] == ["rank 0", "rank 1", "rank 2", "rank 3"]
    kinds = Counter(step.kind for step in drawn.walk(drawn.classes[0].steps))
    assert kinds["send"] == 2  # two neighbours, in a loop of 20 steps
    assert kinds["receive"] == 2 + 3  # and rank 0 is the root of a reduction
    (loop,) = [step for step in drawn.classes[0].steps if step.kind == "loop" and len(step.steps) > 2]
    assert loop.iterations == "20"
    assert kinds["barrier"] > 0


def test_traces_of_two_sizes_predict_a_third_in_every_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = []
    for size in (32, 64):
        into = tmp_path / str(size)
        command(
            "simulate",
            "halo2d",
            "-m",
            "cluster-hdr",
            "-p",
            "4",
            "--no-reference",
            "--trace=shares,messages,regions",
            "--trace-output",
            str(into),
            "--",
            str(size),
            "20",
            "wait",
        )
        (made,) = into.glob("*.sgtrace")
        other = tmp_path / f"{size}.prv"
        command("trace", "convert", str(made), "-o", str(other))
        paths.append((made, other))
    samples, targets = [{"size": 32}, {"size": 64}], [{"size": 96}]
    own, imported = (
        predict_traces([pair[kind] for pair in paths], samples, targets).points[0].predicted for kind in (0, 1)
    )
    assert own is not None
    assert imported is not None
    assert imported.time_s == pytest.approx(own.time_s, rel=0.03)
    capsys.readouterr()
    command("predict", *(str(pair[1]) for pair in paths), "--samples", "size=32,64", "--at", "size=96", "--json")
    assert json.loads(capsys.readouterr().out)["predictions"][0]["time_s"] == pytest.approx(imported.time_s)
    with read(paths[0][0]) as trace:
        (first, *_) = read_operations(trace).locations
    assert int((first.kind == 0).sum()) == 2 * 20  # two neighbours in each of 20 steps


def test_a_pattern_that_changes_with_the_data_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    command(
        "predict", "ge-mpi", "-m", "cluster-hdr", "-p", "4", "--samples", "n=24,48", "--at", "n=96", "--json", code=1
    )
    (point,) = json.loads(capsys.readouterr().out)["predictions"]
    assert "the pattern of messages changes with the parameters" in point["refused"]


def test_traces_without_their_parameters_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command(
        "simulate",
        "pingpong",
        "-m",
        "cluster-hdr",
        "-p",
        "2",
        "--no-reference",
        "--trace=shares,messages",
        "--trace-output",
        str(tmp_path),
    )
    (made,) = tmp_path.glob("*.sgtrace")
    capsys.readouterr()
    for extra, said in (
        (["--samples", "n=1,2"], "those of each trace were expected"),
        ([], "the parameters of each trace"),
        (["--samples", "n=1", "--verify"], "leave out --verify"),
    ):
        command("predict", str(made), "--at", "n=4", *extra, code=2)
        assert said in capsys.readouterr().err


def test_two_samples_are_no_reason_for_a_step_of_rounding_in_the_growth_of_work() -> None:
    region = Region("function build", "n.c", 1)

    def predicted(times: dict[int, float]) -> float:
        once = (1,) * len(times)
        series = Series(
            (COLLECTIVE, -1, 0, 0, 0), once, (0,) * len(times), {(region, False): (*times.values(),)}, region
        )
        pattern = Pattern((0,), (), (series,), ())
        model = rank_model(pattern, [({"n": n}, 8) for n in times], ("n",))
        return model.work_s({"n": 16}, 8)[region, False].time_s

    # nearly ceil(n / 8) * n, which grows by a third from 12 to 16; the cube more than doubles
    assert predicted({8: 0.53e-3, 12: 1.46e-3}) > 1.46e-3 * (16 / 12) ** 1.5
    dealt = {n: 1e-6 * -(-n // 8) * n for n in (4, 8, 12, 20)}
    assert predicted(dealt) == pytest.approx(32e-6, rel=0.01)
