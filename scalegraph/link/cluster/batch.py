"""Runs as files: orders that batch jobs carry out, where nothing may keep running on the host that wrote them.

A job directory has ``orders/KEY.order``, ``programs/SHA256.parcel`` and, once done, ``answers/KEY.answer``: the same
bytes that `engine` sends over the network. KEY is the beginning of the order's SHA-256. ``run.sh`` carries out all
orders without an answer; ``slurm.sh``, ``pbs.sh`` and ``sge.sh`` do so as an array of batch jobs.
"""

from __future__ import annotations

import argparse
import hashlib
import shlex
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError, WorkError
from scalegraph.base.files import reason, write_atomic
from scalegraph.base.run import RunRecord
from scalegraph.link.cluster.order import Parcels, pack_order, unpack_order
from scalegraph.link.cluster.places import Where
from scalegraph.link.job import Job, cancelled

ORDERS, PROGRAMS, ANSWERS = "orders", "programs", "answers"
_KEY: Final = 32
_MEMORY: Final = "2G"
_WALLTIME: Final = "01:00:00"
# The index in a job array: of PBS, Torque and Slurm, which may offer commands named like those of PBS.
_PBS_TASK: Final = "${PBS_ARRAY_INDEX:-${PBS_ARRAYID:-${SLURM_ARRAY_TASK_ID:-0}}}"


class JobWriter:
    """A link that writes every job into *directory* and runs none; it stops the request after the first round of jobs.

    Which runs a search wants next is known only once these results have been collected.
    """

    def __init__(self, directory: Path, stop: CancelToken) -> None:
        self._directory = directory
        self._stop = stop
        self._parcels = Parcels()
        self.written: list[str] = []
        try:
            for name in (ORDERS, PROGRAMS, ANSWERS):
                (directory / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(Fault(f"cannot be written: {reason(error)}", file=str(directory))) from error

    def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:
        """Write *job*; return a record with status cancelled."""
        parcel = self._parcels.of(job, cancel)
        program = self._directory / PROGRAMS / f"{parcel.digest}.parcel"
        if not program.exists():
            write_atomic(program, parcel.data)
        order = pack_order(job, parcel)
        key = hashlib.sha256(order).hexdigest()[:_KEY]
        write_atomic(self._directory / ORDERS / f"{key}.order", order)
        self.written.append(key)
        return cancelled(job)

    def end_round(self) -> None:
        """Stop the request if any job was written."""
        if self.written:
            self._stop.cancel()


def orders(directory: Path) -> list[tuple[str, bytes]]:
    """Return (key, order) of every job in *directory*; raise `InputError` if there is none or one is damaged."""
    paths = sorted((directory / ORDERS).glob("*.order"))
    if not paths:
        raise InputError(
            Fault("has no jobs; a directory that 'run --write-jobs' wrote was expected", file=str(directory))
        )
    found = []
    for path in paths:
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest()[:_KEY] != path.stem:
            raise InputError(Fault("is damaged: its SHA-256 is not its name", file=str(path)))
        found.append((path.stem, data))
    return found


def answer_of(directory: Path, key: str) -> Path:
    """Return the path of the answer to the order *key*, which need not exist yet."""
    return directory / ANSWERS / f"{key}.answer"


def program_of(directory: Path, digest: str) -> bytes:
    """Return the program whose SHA-256 is *digest*; `order.build_of` verifies it."""
    path = directory / PROGRAMS / f"{digest}.parcel"
    try:
        return path.read_bytes()
    except OSError as error:
        raise WorkError(f"{path}: cannot be read: {reason(error)}") from error


def scripts(directory: Path, where: Where, jobs: int) -> Iterator[tuple[Path, str]]:
    """Yield (path, text) of the scripts that carry out the *jobs* in *directory*, with the settings of *where*."""
    tasks = max(1, min(int(where.number("workers", 1)), jobs))
    for name, directives, task in (
        ("run.sh", (), ""),
        ("slurm.sh", _slurm(where, directory, tasks), f' --task "$SLURM_ARRAY_TASK_ID" --of {tasks}'),
        ("pbs.sh", _pbs(where, directory, tasks), f' --task "{_PBS_TASK}" --of {tasks}'),
        ("sge.sh", _sge(where, directory, tasks), f' --task "$((SGE_TASK_ID - 1))" --of {tasks}'),
    ):
        cores = int(where.number("cores", 1))
        command = f"-m scalegraph.link.cluster.batch {shlex.quote(str(directory))}{task} -j {cores}"
        python = shlex.quote(where.settings.get("python", sys.executable))
        lines = [
            "#!/bin/sh",
            *directives,
            f"# Carries out the runs in this directory that have no answer yet; then: scalegraph collect {directory}",
            *([where.settings["prologue"]] if "prologue" in where.settings else []),
            f"exec {python} {command}" + (' "$@"' if not task else ""),
        ]
        yield directory / name, "\n".join(lines) + "\n"


def _slurm(where: Where, directory: Path, tasks: int) -> tuple[str, ...]:
    get = where.settings.get
    values = [
        "job-name=scalegraph",
        f"array=0-{tasks - 1}",
        f"cpus-per-task={int(where.number('cores', 1))}",
        f"mem={_memory(get('memory', _MEMORY))}",
        f"time={get('walltime', _WALLTIME)}",
        f"output={get('log-directory', str(directory))}/slurm-%A_%a.txt",
        *(f"{name}={get(name)}" for name in ("partition", "account") if get(name)),
    ]
    return (*(f"#SBATCH --{value}" for value in values), *(f"#SBATCH {text}" for text in _more(where)))


def _pbs(where: Where, directory: Path, tasks: int) -> tuple[str, ...]:
    get = where.settings.get
    select = f"-l select=1:ncpus={int(where.number('cores', 1))}:mem={_memory(get('memory', _MEMORY)).lower()}b"
    values = [
        "-N scalegraph",
        *([f"-J 0-{tasks - 1}"] if tasks > 1 else []),  # PBS has no array of one
        select,
        f"-l walltime={get('walltime', _WALLTIME)}",
        f"-j oe -o {get('log-directory', str(directory))}/",
        *([f"-q {get('partition')}"] if get("partition") else []),
        *([f"-A {get('account')}"] if get("account") else []),
    ]
    return (*(f"#PBS {value}" for value in values), *(f"#PBS {text}" for text in _more(where)))


def _sge(where: Where, directory: Path, tasks: int) -> tuple[str, ...]:
    get = where.settings.get
    cores = int(where.number("cores", 1))
    values = [
        "-N scalegraph",
        "-S /bin/sh",
        f"-t 1-{tasks}",  # Grid Engine counts from 1
        *([f"-pe smp {cores}"] if cores > 1 else []),
        f"-l mem_free={_memory(get('memory', _MEMORY))}",
        f"-l h_rt={get('walltime', _WALLTIME)}",
        f"-j y -o {get('log-directory', str(directory))}/",
        *([f"-q {get('partition')}"] if get("partition") else []),
        *([f"-P {get('account')}"] if get("account") else []),
    ]
    return (*(f"#$ {value}" for value in values), *(f"#$ {text}" for text in _more(where)))


def _memory(text: str) -> str:
    """Return an amount as batch systems write it: ``2 GiB`` is ``2G``."""
    return text.replace(" ", "").removesuffix("iB").removesuffix("B")


def _more(where: Where) -> list[str]:
    return [part.strip() for part in where.settings.get("directives", "").split(",") if part.strip()]


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a directory's unanswered jobs, or one task's share of them."""
    from scalegraph.link.cluster.worker import answered

    parser = argparse.ArgumentParser(description="Carry out runs that 'scalegraph run --write-jobs' wrote.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=1, help="runs side by side")
    parser.add_argument("--task", type=int, default=0, help="which share of the runs, from 0")
    parser.add_argument("--of", type=int, default=1, help="number of shares")
    given = parser.parse_args(arguments)

    def carry_out(found: tuple[str, bytes]) -> None:
        key, data = found
        order, _stdin = unpack_order(data)
        answer = answered(data, program_of(given.directory, order.parcel), CancelToken())
        write_atomic(answer_of(given.directory, key), answer)

    try:
        mine = orders(given.directory)[given.task :: given.of]
        left = [found for found in mine if not answer_of(given.directory, found[0]).exists()]
        with ThreadPoolExecutor(max(given.jobs, 1)) as pool:
            list(pool.map(carry_out, left))
    except (InputError, WorkError) as error:
        sys.stderr.write(f"scalegraph: {error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
