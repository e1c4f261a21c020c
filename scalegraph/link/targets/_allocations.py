"""Slurm nodes held for the runs of a command: one batch job for each N, or one for all."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Final

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError, RunError
from scalegraph.base.files import reason
from scalegraph.link.cluster import piped
from scalegraph.link.commands import measured, words
from scalegraph.link.job import cancelled
from scalegraph.link.targets import _nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from scalegraph.base.run import RunRecord
    from scalegraph.link.job import Job

EACH, ONE = "each", "one"
_READY: Final = b"\0ready\0"
# The job prints the variables that tell commands about their nodes, then waits for the end of its standard input, so
# that the nodes are given back however ScaleGraph ends.
_HOLDS: Final = r"""env -0 | grep -z '^SLURM'; printf '\0ready\0'; exec cat > /dev/null"""
_POLL_S: Final = 0.1
_GRACE_S: Final = 10.0


@dataclass
class _Held:
    """A batch job held for *key*: its process, its *variables*, and how long it waited for nodes."""

    key: str
    process: subprocess.Popen[bytes]
    said: IO[bytes]
    variables: dict[str, str]
    queue_s: float
    used: bool = False

    @property
    def nodes(self) -> str:
        return self.variables.get("SLURM_JOB_NODELIST", "")

    @property
    def is_here(self) -> bool:
        """Whether its only node is this computer."""
        return self.nodes.partition(".")[0] == socket.gethostname().partition(".")[0]


class Allocations:
    """Runs commands on nodes that it holds until `close`; one run at a time."""

    def __init__(
        self, settings: Mapping[str, str], wanted: Callable[[Job], Sequence[str]], largest: Job | None
    ) -> None:
        """*wanted*: the options that request a job's nodes. *largest*: the job whose nodes serve all runs, or None."""
        self._settings, self._wanted, self._largest = settings, wanted, largest
        self._held: _Held | None = None

    def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:
        """Return the record of one run; raises as `Target.run` does."""
        assert job.command is not None
        stop = cancel or CancelToken()
        key = ONE if self._largest is not None else str(job.point.processors)
        if self._held is None or self._held.key != key or self._held.process.poll() is not None:
            self.close()
            self._held = self._hold(key, self._largest or job, stop)
        held = self._held
        if held is None:
            return cancelled(job).model_copy(update={"source": "measured", "machine": "slurm"})
        queue_s, held.used = 0.0 if held.used else held.queue_s, True
        record = self._by_ranks(held, job, stop) if starts_ranks(job) else self._on_node(held, job, stop)
        if held.process.poll() is not None and not stop.cancelled and not record.ok:
            raise RunError(f"Slurm: the run was ended there: {self._words(held)}")
        usage = record.usage
        return (
            record
            if usage is None
            else record.model_copy(update={"usage": usage.model_copy(update={"queue_s": queue_s})})
        )

    def _by_ranks(self, held: _Held, job: Job, stop: CancelToken) -> RunRecord:
        """Run a command here that starts ranks on the nodes itself, as ``mpirun`` and ``srun`` do in a batch job."""
        free = replace(job, measuring=replace(job.measuring, pin="none"))
        record = measured.run(free, held.nodes, stop, {**held.variables, "SLURM_CPU_BIND": "none"})
        if held.is_here or record.usage is None or record.usage.processor_time_s is None:
            return record
        away = f"the processes are on {held.nodes}: their processor time and memory are unknown"
        unknown = {"user_s": None, "system_s": None, "peak_memory_bytes": None}
        usage = record.usage.model_copy(update=unknown)
        return record.model_copy(update={"usage": usage, "counters": {}, "warnings": (*record.warnings, away)})

    def _on_node(self, held: _Held, job: Job, stop: CancelToken) -> RunRecord:
        """Run a single-process command on the node, where ``srun`` starts ScaleGraph."""
        job_id = held.variables.get("SLURM_JOB_ID", "")
        step = ["srun", "--quiet", f"--jobid={job_id}", "--nodes=1", "--ntasks=1", "--cpu-bind=none"]
        step += [f"--cpus-per-task={job.point.processors}", *piped.python()]
        return piped.measured_there(step, job, stop, "Slurm", sentences=_nodes.SENTENCES)

    def close(self) -> None:
        """Give the nodes back."""
        held, self._held = self._held, None
        if held is None:
            return
        pipe = held.process.stdin
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            held.process.wait(_GRACE_S)  # it ends when its input does
        _end(held.process)
        held.said.close()

    def _hold(self, key: str, job: Job, stop: CancelToken) -> _Held | None:
        """Wait for nodes for *job*; return the batch job that has them, None after a request to stop.

        Raises `RunError` where Slurm grants none.
        """
        command = [*self._wanted(job), "sh", "-c", _HOLDS]
        said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the job
        begin = time.monotonic()
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, start_new_session=True
            )
        except OSError as error:
            raise RunError(f"'{command[0]}' cannot be started: {reason(error)}") from error
        out = process.stdout
        assert out is not None
        os.set_blocking(out.fileno(), False)
        data = b""
        while _READY not in data:
            data += out.read() or b""
            text = os.pread(said.fileno(), 4096, 0)
            hopeless = _nodes.SENTENCES.hopeless.search(text.decode("utf-8", "replace"))
            if stop.wait(_POLL_S) or process.poll() is not None or hopeless:
                _end(process)
                text = os.pread(said.fileno(), 4096, 0)  # it may have said why since the last read
                words_ = piped.last_lines(text, _nodes.SENTENCES.progress)
                said.close()
                if stop.cancelled:
                    return None
                raise RunError(f"Slurm: the run gets no nodes: {words_ or f'exit code {process.returncode}'}")
        pairs = (item.decode("utf-8", "replace").partition("=") for item in data.split(b"\0") if b"=" in item)
        return _Held(key, process, said, {name: value for name, _, value in pairs}, time.monotonic() - begin)

    def _words(self, held: _Held) -> str:
        text = os.pread(held.said.fileno(), 4096, 0)
        return (
            piped.last_lines(text, _nodes.SENTENCES.progress)
            or f"salloc ended with exit code {held.process.returncode}"
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        process.terminate()
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def starts_ranks(job: Job) -> bool:
    """Return whether *job*'s command starts processes on the nodes of a batch job, or what the setting ``mpi`` says.

    Raises `InputError` if that setting is neither yes nor no.
    """
    assert job.command is not None
    said = job.settings.get("mpi", "")
    if said not in ("", "yes", "no"):
        raise InputError(Fault(f"'{said}' is neither yes nor no", key="target.settings.mpi"))
    if said:
        return said == "yes"
    return words.is_mpi(job.args) or job.command.processes > 1


def kind(settings: Mapping[str, str]) -> str:
    """Return which runs share a batch job: `EACH` N or all in `ONE`; raise `InputError` for anything else."""
    said = settings.get("allocation", "") or EACH
    if said not in (EACH, ONE):
        text = f"'{said}' is not an allocation; expected each (a batch job for each N) or one (for all runs)"
        raise InputError(Fault(text, key="target.settings.allocation"))
    return said
