"""The runtime's reader of its configuration refuses what it does not understand."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from scalegraph import machine

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.compiler
Refused = Callable[[str], str]


@pytest.fixture
def good(root: "Path") -> str:
    values = machine.load("ksr1").runtime_config() | {
        "run.processors": "4",
        "run.arena_bytes": "1048576",
        "run.stack_bytes": "65536",
        "run.quantum_cycles": "1000",
        "run.result_path": "/a path/result",
        "run.blocks_path": "b",
    }
    return "".join(f"{key} {value}\n" for key, value in values.items())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("run.processors 4", "run.processors 12x", "expected a whole number from 1 to 16384, got '12x'"),
        ("run.processors 4", "run.processors -1", "expected a whole number from 1 to 16384, got '-1'"),
        ("run.processors 4", "run.processors", "expected a whole number from 1 to 16384, got ''"),
        ("run.processors 4", "run.processors 0", "expected a whole number from 1 to 16384, got '0'"),
        ("run.processors 4", "run.processors 99999999999999999999", "got '99999999999999999999'"),
        ("run.processors 4", "run.processors 2000", "expected at most the machine's 1088 processors, got 2000"),
        ("run.processors 4", "run.procesors 4", "unknown key 'run.procesors'"),
        ("run.processors 4", "run.processors 4\nrun.processors 4", "run.processors: is given a second time"),
        ("run.processors 4\n", "", "run.processors: is missing"),
        ("machine.clock_hz 20000000.0", "machine.clock_hz fast", "machine.clock_hz: expected a number from"),
        ("machine.clock_hz 20000000.0", "machine.clock_hz nan", "machine.clock_hz: expected a number from"),
        ("machine.lock queue", "machine.lock queu", "expected one of test_and_set, ticket, queue, library; got 'queu'"),
        (
            "network.kind ring",
            "network.kind torus",
            "expected one of bus, hypernode, local, mesh, multistage, numa, ring; got",
        ),
        ("network.kind ring", "network.kind numa", "the network 'numa' has no such parameter"),
        ("machine.network.rings 34\n", "", "machine.network.rings: is missing; the network 'ring' needs it"),
        ("machine.network.rings 34", "machine.network.rings 0", "expected a whole number from 1 to 1024, got 0"),
        ("machine.network.rings 34", "machine.network.rings 3", "expected room for 1088 processors, got 3 rings of 32"),
        ("machine.op.fp_add 1000\n", "", "machine.op.fp_add: is missing"),
        ("machine.op.fp_add", "machine.op.fp_ad", "machine.op.fp_ad: unknown operation class"),
        ("machine.level.1.ways 16\n", "", "machine.level.1.ways: is missing; machine.levels is 2"),
        ("machine.levels 2", "machine.levels 1", "machine.level.1.size_bytes: is one level too many"),
        ("machine.level.1.ways 16", "machine.level.7.ways 16", "unknown key of a cache level"),
        ("machine.level.1.ways 16", "machine.level.1.ways 15", "machine.level.1.size_bytes: expected lines times ways"),
        ("machine.level.0.line_bytes 64", "machine.level.0.line_bytes 96", "expected a power of two"),
        ("machine.coherence.kind ring_snoop", "machine.coherence.kind full_map", "need each other"),
    ],
)
def test_a_wrong_configuration_is_refused_with_one_sentence(
    refused: Refused, good: str, old: str, new: str, said: str
) -> None:
    assert old in good
    answer = refused(good.replace(old, new, 1))
    assert said in answer
    assert "\n" not in answer


def test_a_refusal_names_file_and_line(refused: Refused, good: str) -> None:
    assert refused("# comment\n\n" + "what 1\n" + good) == "run.cfg:3: unknown key 'what'"


def test_an_absurdly_long_line_is_refused(refused: Refused, good: str) -> None:
    assert "expected a line of at most" in refused("run.schedule " + "x" * 10_000 + "\n" + good)
    assert "run.schedule: expected a text of 0 to 255 bytes" in refused("run.schedule " + "x" * 256 + "\n" + good)
