"""Random MPI programs with only one possible result: run natively, saved, and compared with the simulator.

    python -m tests.mpi.random_programs --count 1000 --against MPIEXEC              natively, twice
    python -m tests.mpi.random_programs --count 1000 --against MPIEXEC --keep F     .. and save their output in F
    python -m tests.mpi.random_programs --count 1000 --expected F --simulate        simulated, compared with F
    python -m tests.mpi.random_programs --count 1000 --against MPIEXEC --simulate   simulated, compared with native runs

``--parts messages,datatypes`` uses only these kinds of parts (`PARTS`). The same seed and kinds always give the same
program. Each program prints a checksum per rank over all data that the rank received. With ``--static BYTES``, buffers
of up to this size are static data, which the simulator swaps when it switches between ranks.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scalegraph import control
from scalegraph import machine as machines
from scalegraph.base.run import RunPoint
from scalegraph.link import Build, Job, RunOptions, Simulated
from tests.mpi.native import MISSING, Native, find

HERE = Path(__file__).parent
UNIT = 20  # programs compiled together
RANKS = (2, 4)
FLAGS = ("-fopenmp", "-Wno-unused-function", f"-I{HERE}")  # a source rarely calls all parts

# seed -> ranks (as text, because JSON keys are text) -> output of the program
Expected = dict[str, dict[str, str]]


class Draw:
    """Draws the parts of one program; the same seed and kinds give the same parts."""

    def __init__(self, seed: int, kinds: Sequence[str]) -> None:
        self.random = random.Random(seed * 6007 + 5)
        self.kinds = kinds
        self.tag = 0
        self.depth = 0

    def number(self, least: int, most: int) -> int:
        return self.random.randint(least, most)

    def count(self) -> int:
        """Return a number of elements: mostly small, sometimes more than fit in one packet."""
        return self.number(1, 12) if self.random.random() < 0.9 else self.number(500, 3000)

    def next_tag(self) -> int:
        self.tag += 1
        return self.tag

    def world(self) -> str:
        return f"w{self.depth}"


def _shift(draw: Draw) -> str:
    send = draw.number(0, 6)
    receive = draw.number(0, 4) if send < 5 else send  # kinds 0 to 4 all hold longs
    mode, tag = draw.number(0, 12), draw.next_tag()
    return f"shift({draw.world()}, {draw.number(-3, 9)}, {draw.count()}, {send}, {receive}, {mode}, {tag});"


def _plain_shift(draw: Draw) -> str:
    sizes = f"{draw.number(-3, 9)}, {draw.count()}, {draw.number(0, 3)}"
    return f"plain_shift({draw.world()}, {sizes}, {draw.next_tag()});"


def _pairs(draw: Draw) -> str:
    return f"pairs({draw.world()}, {draw.count()}, {draw.number(0, 1)}, {draw.next_tag()});"


def _to_root(draw: Draw) -> str:
    mode = draw.number(0, 2)
    return f"to_root({draw.world()}, {draw.number(0, 9)}, {draw.number(1, 5)}, {mode}, {draw.next_tag()});"


def _in_order(draw: Draw) -> str:
    return f"in_order({draw.world()}, {draw.number(-2, 5)}, {draw.number(1, 12)});"


def _many(draw: Draw) -> str:
    sizes = f"{draw.number(1, 3)}, {draw.number(1, 12)}, {draw.number(0, 4)}"
    return f"many({draw.world()}, {sizes}, {draw.next_tag()});"


def _packed(draw: Draw) -> str:
    return f"packed({draw.world()}, {draw.number(-2, 5)}, {draw.count()}, {draw.next_tag()});"


def _reduction(draw: Draw) -> str:
    which = draw.number(0, 9)
    operation = draw.number(0, 3 if which >= 8 else 8)  # floating-point numbers have no bitwise or logical operations
    what = draw.number(0, 5)
    sizes = f"{draw.number(0, 9)}, {draw.count()}, {which}, {operation}, {draw.number(0, 2)}"
    return f"reduction({draw.world()}, {what}, {sizes});"


def _in_place(draw: Draw) -> str:
    return f"reduction_in_place({draw.world()}, {draw.count()}, {draw.number(0, 9)}, {draw.number(0, 3)});"


def _composition(draw: Draw) -> str:
    sizes = f"{draw.number(0, 5)}, {draw.number(0, 9)}, {draw.count()}, {draw.number(0, 2)}"
    return f"composition({draw.world()}, {sizes});"


def _extremes(draw: Draw) -> str:
    return f"extremes({draw.world()}, {draw.number(0, 1)}, {draw.number(0, 9)});"


def _broadcast(draw: Draw) -> str:
    sizes = f"{draw.number(0, 9)}, {draw.count()}, {draw.number(0, 6)}, {draw.number(0, 2)}"
    return f"broadcast({draw.world()}, {sizes});"


def _even_blocks(draw: Draw) -> str:
    sizes = f"{draw.number(0, 3)}, {draw.number(0, 9)}, {draw.count()}, {draw.number(0, 2)}"
    return f"even_blocks({draw.world()}, {sizes});"


def _uneven_blocks(draw: Draw) -> str:
    return f"uneven_blocks({draw.world()}, {draw.number(0, 4)}, {draw.number(0, 9)}, {draw.number(1, 12)});"


def _barrier(draw: Draw) -> str:
    return f"barrier({draw.world()}, {draw.number(0, 2)});"


def _inside(draw: Draw) -> str:
    """Return parts that run in a communicator of some of the ranks."""
    if draw.depth == 2:
        return _barrier(draw)
    outer = draw.world()
    made = draw.random.choice(
        (
            f"split({outer}, {draw.number(1, 3)}, {draw.number(1, 5)}, {draw.number(0, 1)})",
            f"subgroup({outer}, {draw.number(1, 3)})",
            f"duplicate({outer})",
        )
    )
    draw.depth += 1
    inner = draw.world()
    lines = [line for _ in range(draw.number(1, 4)) for line in part(draw).split("\n")]
    body = "".join(f"\n        {line}" for line in lines)
    draw.depth -= 1
    return (
        f"{{\n    world {inner} = {made};\n    if ({inner}.comm != MPI_COMM_NULL) {{{body}\n"
        f"        MPI_Comm_free(&{inner}.comm);\n    }}\n}}"
    )


def _two_groups(draw: Draw) -> str:
    return f"two_groups({draw.world()}, {draw.next_tag()});"


def _cartesian(draw: Draw) -> str:
    sizes = f"{draw.number(1, 3)}, {draw.number(0, 7)}, {draw.number(1, 12)}"
    return f"cartesian({draw.world()}, {sizes}, {draw.next_tag()});"


def _graph(draw: Draw) -> str:
    return f"graph({draw.world()}, {draw.number(0, 5)}, {draw.number(0, 5)}, {draw.number(1, 12)});"


def _one_sided(draw: Draw) -> str:
    return f"one_sided({draw.world()}, {draw.number(-2, 5)}, {draw.number(1, 40)}, {draw.number(0, 1)});"


def _accumulated(draw: Draw) -> str:
    sizes = f"{draw.number(1, 40)}, {draw.number(0, 4)}, {draw.number(0, 2)}, {draw.number(0, 1)}"
    return f"accumulated({draw.world()}, {sizes});"


def _requested(draw: Draw) -> str:
    return f"requested({draw.world()}, {draw.number(-2, 5)}, {draw.number(1, 40)}, {draw.number(0, 1)});"


def _exposed(draw: Draw) -> str:
    return f"exposed({draw.world()}, {draw.number(-2, 5)}, {draw.number(1, 40)}, {draw.number(0, 1)});"


def _atomics(draw: Draw) -> str:
    return f"atomics({draw.world()}, {draw.number(-2, 5)}, {draw.number(1, 6)}, {draw.number(0, 1)});"


def _threads_exchange(draw: Draw) -> str:
    sizes = f"{draw.number(1, 4)}, {draw.number(-2, 5)}, {draw.number(1, 6)}, {draw.number(0, 1)}"
    return f"threads_exchange({draw.world()}, {sizes}, {draw.next_tag()});"


def _threads_of_pipes(draw: Draw) -> str:
    sizes = f"{draw.number(2, 4)}, {draw.number(-2, 5)}, {draw.number(1, 6)}, {draw.number(0, 1)}"
    return f"threads_of_pipes({draw.world()}, {sizes}, {draw.next_tag()});"


def _threads_in_turn(draw: Draw) -> str:
    sizes = f"{draw.number(1, 4)}, {draw.number(-2, 5)}, {draw.number(1, 6)}, {draw.number(0, 1)}"
    return f"threads_in_turn({draw.world()}, {sizes}, {draw.next_tag()});"


def _threads_of_events(draw: Draw) -> str:
    return f"threads_of_events({draw.world()}, {draw.number(-2, 5)}, {draw.number(1, 9)}, {draw.next_tag()});"


def _teams_of_signals(draw: Draw) -> str:
    return f"teams_of_signals({draw.world()}, {draw.number(1, 3)}, {draw.number(1, 3)}, {draw.number(1, 5)});"


PARTS: dict[str, tuple[Callable[[Draw], str], ...]] = {
    "messages": (_plain_shift, _plain_shift, _pairs, _to_root, _in_order, _many),
    "datatypes": (_shift, _shift, _shift, _packed),
    "reductions": (_reduction, _reduction, _in_place, _composition, _extremes),
    "movement": (_broadcast, _even_blocks, _uneven_blocks, _barrier),
    "communicators": (_inside, _inside, _two_groups),
    "topologies": (_cartesian, _graph),
    "onesided": (_one_sided, _accumulated, _requested, _exposed, _atomics),
    "threads": (_threads_exchange, _threads_of_pipes, _threads_in_turn, _threads_of_events, _teams_of_signals),
}


def part(draw: Draw) -> str:
    """Return one part: a call, or a block of them in a communicator of its own."""
    return draw.random.choice(PARTS[draw.random.choice(draw.kinds)])(draw)


def program(seed: int, kinds: Sequence[str] = tuple(PARTS)) -> str:
    """Return the C function ``program_SEED``."""
    draw = Draw(seed, kinds)
    lines = [line for _ in range(draw.number(3, 9)) for line in part(draw).split("\n")]
    body = "".join(f"    {line}\n" for line in lines)
    head = f"static void program_{seed}(void)\n{{\n    world w0 = within(MPI_COMM_WORLD);\n"
    return f"{head}    state = mix({seed} * 64ul + (word)w0.rank);\n{body}    print_states(w0, {seed});\n}}\n"


def source(seeds: range, kinds: Sequence[str] = tuple(PARTS)) -> str:
    """Return a C program that contains the programs of *seeds* and runs those that its arguments name, in order."""
    cases = "".join(f"        case {seed}:\n            program_{seed}();\n            break;\n" for seed in seeds)
    return (
        '#include "random_collectives.h"\n\n'
        + "\n".join(program(seed, kinds) for seed in seeds)
        + "\nint main(int argc, char **argv)\n{\n    int level;\n"
        + "    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);\n"
        + "    if (level != MPI_THREAD_MULTIPLE)\n        return 77;\n    for (int i = 1; i < argc; i++)\n"
        + f"        switch (atoi(argv[i])) {{\n{cases}        }}\n    MPI_Finalize();\n    return 0;\n}}\n"
    )


@dataclass
class Units:
    """Writes the sources of programs and compiles each natively on first use."""

    directory: Path
    kinds: Sequence[str] = tuple(PARTS)
    static: int = 0  # size of each static buffer in bytes; 0: all buffers are in the heap
    unit: int = UNIT  # programs in one source
    binaries: dict[int, Path] = field(default_factory=dict)
    builds: dict[int, Build] = field(default_factory=dict)

    @property
    def flags(self) -> tuple[str, ...]:
        """The options of the compiler."""
        return (*FLAGS, f"-DSTATIC_BUFFERS={self.static}") if self.static else FLAGS

    def source(self, seed: int) -> Path:
        """Return the source file that contains the program of *seed*."""
        first = seed - seed % self.unit
        path = self.directory / f"random{first}.c"
        if not path.exists():
            path.write_text(source(range(first, first + self.unit), self.kinds), encoding="utf-8")
        return path

    def binary(self, native: Native, seed: int) -> Path:
        """Return the native executable that contains the program of *seed*."""
        first = seed - seed % self.unit
        if first not in self.binaries:
            self.binaries[first] = native.compiled(self.source(seed), self.directory / f"random{first}", *self.flags)
        return self.binaries[first]

    def build(self, seed: int) -> Build:
        """Return the simulated executable that contains the program of *seed*."""
        first = seed - seed % self.unit
        if first not in self.builds:
            self.builds[first] = control.build([self.source(seed)], cflags=self.flags)
        return self.builds[first]


def native_result(native: Native, units: Units, seed: int, ranks: int, limit: float = 60.0) -> str:
    """Return the output on *ranks*, which must be the same in two runs; raises `ValueError` saying what is wrong.

    A run must not take more than *limit* seconds.
    """
    return native_results(native, units, range(seed, seed + 1), ranks, limit)[seed]


def native_results(native: Native, units: Units, seeds: range, ranks: int, limit: float = 60.0) -> dict[int, str]:
    """Return the output of each of *seeds*, which are in one source and run one after the other; as `native_result`."""
    said = f"program {', '.join(map(str, seeds))} on {ranks} ranks"
    printed = set()
    for _ in range(2):
        try:
            done = native.run(units.binary(native, seeds[0]), ranks, *map(str, seeds), timeout=limit)
        except subprocess.TimeoutExpired:
            raise ValueError(f"{said}: not ended natively after {limit:g} s") from None
        if done.returncode != 0 or done.stdout.count("\n") != ranks * len(seeds):
            raise ValueError(f"{said}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        lines = done.stdout.splitlines(keepends=True)
        printed.add(tuple("".join(line for line in lines if line.startswith(f"program {seed},")) for seed in seeds))
    if len(printed) > 1:
        raise ValueError(f"{said} prints something else in a second run:\n{printed}")
    return dict(zip(seeds, printed.pop(), strict=True))


def simulated_result(units: Units, seed: int, ranks: int, machine: str) -> str:
    """Return the simulated output on *ranks* of *machine*; raises `ValueError` saying what is wrong."""
    on = machines.load(machine)
    each = 1 + seed % 2 if "threads" in units.kinds and on.node_processors % 2 == 0 else 1
    job = Job(
        units.build(seed),
        on,
        RunPoint(processors=ranks * each),
        (str(seed),),
        options=RunOptions(threads_per_process=each),
    )
    record = Simulated().run(job)
    if not record.ok:
        raise ValueError(f"program {seed} on {ranks} ranks of {machine}: {record.status}, {record.message}")
    if changed := [warning for warning in record.warnings if "was changed before" in warning]:
        raise ValueError(f"program {seed} on {ranks} ranks of {machine}, which is right: {changed[0]}")
    return record.stdout


def faults(options: argparse.Namespace, native: Native | None, expected: Expected) -> Iterator[str]:
    """Yield a sentence for each faulty program; adds the programs' native outputs to *expected*."""
    with tempfile.TemporaryDirectory() as directory:
        units = Units(Path(directory), options.parts, options.static)
        for seed in range(options.first, options.first + options.count):
            for ranks in options.ranks:
                try:
                    if native is not None:
                        printed = native_result(native, units, seed, ranks, options.limit)
                        expected.setdefault(str(seed), {})[str(ranks)] = printed
                    right = expected[str(seed)][str(ranks)]
                    if not options.simulate:
                        continue
                    if (got := simulated_result(units, seed, ranks, options.machine)) != right:
                        yield f"program {seed} on {ranks} ranks: simulated\n{got}natively\n{right}"
                except KeyError:
                    yield f"program {seed} on {ranks} ranks: its result was not kept"
                except ValueError as error:
                    yield str(error)


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first program")
    parser.add_argument("--ranks", type=lambda text: tuple(map(int, text.split(","))), default=RANKS)
    parser.add_argument("--parts", type=lambda text: tuple(text.split(",")), default=tuple(PARTS))
    parser.add_argument("--against", metavar="MPIEXEC", help="run natively with this launcher; mpicc must be beside it")
    parser.add_argument("--limit", type=float, default=60.0, help="time limit of a native run in seconds")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="save the native output in this file")
    parser.add_argument("--expected", type=Path, metavar="FILE", help="native output saved earlier with --keep")
    parser.add_argument("--simulate", action="store_true", help="simulate and compare")
    parser.add_argument("--static", type=int, default=0, metavar="BYTES", help="size of each static buffer")
    parser.add_argument("--machine", default="server-2x32-inorder", help="simulated machine")
    options = parser.parse_args(arguments)
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"unknown parts {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    return options


def main(arguments: Sequence[str]) -> int:
    """Run; return the exit code: 0 if all programs are right, 1 if not, 2 if there is nothing to compare with."""
    options = parsed(arguments)
    kept: Expected = json.loads(options.expected.read_text(encoding="utf-8")) if options.expected else {}
    native = None if options.expected else find(options.against or "")
    if native is None and not kept:
        print(f"{options.against}: not an mpiexec with mpicc beside it" if options.against else MISSING)
        return 2
    wrong = 0
    for sentence in faults(options, native, kept):
        wrong += 1
        print(sentence, flush=True)
    if options.keep:
        options.keep.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(f"{options.count} programs on {', '.join(map(str, options.ranks))} ranks: {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
