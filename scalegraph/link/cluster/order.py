"""What travels to a worker: the order of one run, and the built program that many orders share."""

from __future__ import annotations

import contextlib
import hashlib
import json
import platform
import threading
from collections.abc import Mapping
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

import scalegraph
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError, InputError, RunError
from scalegraph.base.files import reason
from scalegraph.base.run import Region, RunPoint
from scalegraph.link.build import AsItIs, Build, BuiltSource, Measuring
from scalegraph.link.cluster import frames
from scalegraph.link.emulator import architecture_of
from scalegraph.link.job import Job
from scalegraph.link.options import Limits, RunOptions
from scalegraph.link.tracing import TraceOrder
from scalegraph.machine import Machine
from scalegraph.runtime.cache import cache_root, get_or_make
from scalegraph.runtime.format import VERSION as RESULTS

if TYPE_CHECKING:
    from scalegraph.instrument.plain import Plain

FORMAT: Final = 4
_FILES: Final = ("executable", "launcher", "blocks", "places")  # fields of `Build`, in the order in which they are sent
_PLAIN: Final = ("plain", "plain_places")  # of its plain build, for machines with a pipeline
_PROGRAMS: Final = ("executable", "launcher")
_SAME: Final = (
    "point",
    "args",
    "env",
    "limits",
    "schedule",
    "collect",
    "options",
    "command",
)  # fields that a job and its order have in common
_TRACE: Final = ("name", "what", "begin", "end", "interval", "regions", "limit", "identity", "asked")


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class Order(_Strict):
    """One run, complete but for the program's files, which *parcel* identifies by their SHA-256.

    *format*, *version*, *results*, *architecture*: what the worker must match. *trace*: the values of a `TraceOrder`
    but for its directory. *machine*: the values of its file. *target*: the target that runs it there, the simulated
    machine if empty; *measuring*: how it is measured; *settings*: of that target.
    """

    format: int = FORMAT
    version: str
    results: int
    architecture: str
    parcel: str
    machine: dict[str, Any]
    point: RunPoint
    program: str
    args: tuple[str, ...] = ()
    cwd: str | None = None
    env: Mapping[str, str] = {}
    limits: Limits = Limits()
    schedule: str = ""
    collect: tuple[str, ...] = ()
    options: RunOptions = RunOptions()
    command: AsItIs | None = None
    trace: dict[str, Any] | None = None
    target: str = ""
    measuring: Measuring = Measuring()
    settings: dict[str, str] = {}

    @cached_property
    def model(self) -> Machine:
        """The machine that the run is simulated on."""
        return _machine(json.dumps(self.machine))

    def job(self, build: Build, stdin: bytes | None, trace_directory: Path | None = None) -> Job:
        """Return the job to run here, with *build* as its program."""
        values = self.trace
        trace = None
        if values is not None and trace_directory is not None:
            lists = {name: tuple(values[name]) for name in ("what", "regions")}
            trace = TraceOrder(directory=trace_directory, **(values | lists))
        return Job(
            build=build,
            machine=self.model,
            stdin=stdin,
            cwd=Path(self.cwd) if self.cwd else None,
            program=self.program,
            trace=trace,
            measuring=self.measuring,
            settings=self.settings,
            **{name: getattr(self, name) for name in _SAME},
        )


@lru_cache(maxsize=16)
def _machine(values: str) -> Machine:
    """Return the machine with these *values*; cached, as the runs of a sweep share it and machines are immutable."""
    return Machine.model_validate(json.loads(values))


class Parcel:
    """The files of a built program as bytes, with their SHA-256; includes its sources, which name allocations.

    *plain*: its plain build, if its runs need that too.
    """

    def __init__(self, build: Build, plain: Plain | None = None) -> None:
        contents: dict[str, bytes] = {}
        try:
            if plain is not None:
                contents = dict(zip(_PLAIN, (plain.executable.read_bytes(), plain.places.read_bytes()), strict=True))
            for name in () if build.command else _FILES:
                path: Path | None = getattr(build, name)
                if path is not None and (name in _PROGRAMS or path.exists()):
                    contents[name] = path.read_bytes()
        except OSError as error:
            raise RunError(f"{build.program}: cannot be sent: {reason(error)}") from error
        head = {
            "format": FORMAT,
            "program": build.program,
            "regions": [region.model_dump(mode="json", exclude_defaults=True) for region in build.regions],
            "digest": build.digest,
            "root": build.root,
            "mpi": build.mpi,
            "command": build.command,
            "sources": [[source.file, source.text] for source in build.sources],
            "files": list(contents),
            "sha256": [hashlib.sha256(content).hexdigest() for content in contents.values()],
        }
        self.architecture = "" if build.command else architecture_of(contents["executable"]) or ""
        self.data = frames.pack(head, *contents.values())
        self.digest = hashlib.sha256(self.data).hexdigest()


class Parcels:
    """The parcels of jobs, each made only once; thread-safe."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, bool], Parcel] = {}
        self._mutex = threading.Lock()

    def of(self, job: Job, cancel: CancelToken | None = None) -> Parcel:
        """Return the parcel of the program of *job*, with its plain build if the machine has a pipeline."""
        build = job.build
        needs_plain = job.machine.processor.pipeline.is_given and not job.point.target and build.plain is not None
        key = build.digest, needs_plain
        with self._mutex:
            if key not in self._made:
                plain = None
                if needs_plain and build.plain is not None:
                    with contextlib.suppress(
                        BuildError
                    ):  # the run remarks that its loops are charged as the code with hooks
                        plain = build.plain(cancel or CancelToken())
                self._made[key] = Parcel(build, plain)
            return self._made[key]


def measured_by(job: Job) -> str:
    """Return the target that measures *job* on a worker: ``mpi`` for MPI processes, ``host`` for a single program."""
    return "mpi" if job.build.mpi else "host"


def pack_order(job: Job, parcel: Parcel, target: str = "", settings: Mapping[str, str] | None = None) -> bytes:
    """Return the order of *job* as bytes, including its standard input; equal jobs have equal orders.

    *target*: the target that runs it there, the simulated machine if empty; *settings*: of that target, not of the
    job's own.
    """
    order = Order(
        version=scalegraph.__version__,
        results=RESULTS,
        architecture=parcel.architecture,
        parcel=parcel.digest,
        machine=job.machine.model_dump(mode="json"),
        program=job.name,
        cwd=None if job.cwd is None else str(job.cwd.absolute()),
        target=target,
        measuring=job.measuring if target else Measuring(),
        settings=dict(sorted((settings or {}).items())),
        trace=None if job.trace is None else {name: getattr(job.trace, name) for name in _TRACE},
        **{name: getattr(job, name) for name in _SAME},
    )
    stdin = _input(job)
    return frames.pack({"order": order.model_dump(mode="json")}, *([] if stdin is None else [stdin]))


def _input(job: Job) -> bytes | None:
    """Return the content of the standard input of *job*; None for an empty one."""
    if not isinstance(job.stdin, Path):
        return job.stdin
    try:
        return job.stdin.read_bytes()
    except OSError as error:
        raise RunError(f"{job.name}: {job.stdin}: cannot be read: {reason(error)}") from error


def unpack_order(data: bytes) -> tuple[Order, bytes | None]:
    """Return (order, standard input) from the bytes of `pack_order`; raise `InputError` for anything else."""
    try:
        head, blobs = frames.unpack(data)
        return Order.model_validate(head.get("order")), blobs[0] if blobs else None
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"the order of a run: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except ValueError as error:
        raise InputError(f"the order of a run {error}") from None


def refusal(order: Order, host: str) -> str:
    """Return a sentence if the machine called *host* cannot carry out *order*, otherwise an empty string."""
    here = platform.machine()
    if (order.version, order.results, order.format) != (scalegraph.__version__, RESULTS, FORMAT):
        return (
            f"{host} has ScaleGraph {scalegraph.__version__} (results {RESULTS}, orders {FORMAT}), the run was "
            f"requested by {order.version} (results {order.results}, orders {order.format}); the same version was "
            f"expected on every worker"
        )
    if order.architecture not in (here, "" if order.command is not None else here):
        return (
            f"{host} is {here}, the program was built for {order.architecture}; workers of the same architecture were "
            "expected"
        )
    return ""


def build_of(parcel: bytes, digest: str) -> Build:
    """Return the program of *parcel*, kept in this machine's cache.

    Raises `RunError` if the SHA-256 of the bytes is not *digest*.
    """
    if hashlib.sha256(parcel).hexdigest() != digest:
        raise RunError("the program that arrived is not the one that was sent: its SHA-256 differs")
    try:
        head, blobs = frames.unpack(parcel)
        contents = dict(zip(head["files"], blobs, strict=True))
        sums = dict(zip(head["files"], head["sha256"], strict=True))
        regions = tuple(map(Region.model_validate, head["regions"]))
        sources = tuple(BuiltSource(str(file), str(text), str(text)) for file, text in head["sources"])
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"the program that arrived cannot be used: {error}") from None

    def write(place: Path) -> None:
        for name in (*_FILES, *_PLAIN):
            if name in contents:
                (place / name).write_bytes(contents[name])
                (place / name).chmod(0o755 if name in _PROGRAMS else 0o644)

    directory = get_or_make(cache_root() / "parcels" / digest[:32], write)
    _check(directory, sums)
    return Build(
        program=str(head["program"]),
        executable=directory / "executable",
        launcher=directory / "launcher",
        blocks=directory / "blocks",
        regions=regions,
        sources=sources,
        remarks=(),
        digest=str(head["digest"]),
        root=str(head["root"]),
        places=directory / "places" if "places" in contents else None,
        mpi=bool(head["mpi"]),
        command=bool(head["command"]),
        plain=partial(_plain, directory) if "plain" in contents else None,
    )


def _plain(directory: Path, cancel: CancelToken) -> Plain:
    """Return the plain build that was sent with a program, unpacked in *directory*."""
    from scalegraph.instrument.plain import Plain

    cancel.check()
    return Plain(directory / "plain", directory / "plain_places")


def _check(directory: Path, sums: Mapping[str, str]) -> None:
    for name, digest in sums.items():
        if name not in (*_FILES, *_PLAIN) or hashlib.sha256((directory / name).read_bytes()).hexdigest() != digest:
            raise RunError(f"{directory / name}: is not the file that was sent: its SHA-256 differs")
