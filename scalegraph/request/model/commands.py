"""A request's command, measured as it is: its words, its name, its faults, and how a run starts it."""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scalegraph.base import expression
from scalegraph.base.errors import Fault
from scalegraph.base.run import RunPoint, Value
from scalegraph.base.units import as_read
from scalegraph.link.build import AsItIs, Build
from scalegraph.link.commands import words
from scalegraph.link.targets import named as target_named
from scalegraph.request.model import targeting

if TYPE_CHECKING:
    from scalegraph.link import Job
    from scalegraph.request.model.program_choice import ProgramChoice
    from scalegraph.request.model.request import Request
    from scalegraph.request.model.resolve import Resolved

KEY: Final = "program.command"
_LARGEST: Final = 256 << 20  # bytes of a program whose content identifies it; for larger ones size and time
_THREADS: Final = "OMP_NUM_THREADS"
UNNAMED: Final = (
    "neither the command nor its environment names {N}, {threads} or {processes}: N sets OMP_NUM_THREADS only, and the "
    "processors that the command may use"
)


def named(choice: ProgramChoice, directory: Path) -> tuple[str, tuple[str, ...]]:
    """Return the name of the program that a command runs in *directory*, and its words; none if it is empty."""
    try:
        found = (*words.split(choice.command, shell=choice.shell), *(choice.args or ()))
        plain = words.split(choice.command, shell=False)
    except ValueError:
        return "command", ()
    return words.title(plain, directory), found


def faults(
    request: Request, found: Sequence[str], env: Mapping[str, str], base: Mapping[str, Value], directory: Path
) -> list[Fault]:
    """Return every fault of the command of *request*, whose words are *found*; it runs in *directory*."""
    return [*_words(request.program), *_places(found, env, base), *_program(request, found, directory), *_rest(request)]


def _words(choice: ProgramChoice) -> Iterator[Fault]:
    try:
        words.split(choice.command, shell=choice.shell)
    except ValueError as error:
        yield Fault(str(error), key=KEY)
    from scalegraph.link.commands import reported  # imports the reader of tables

    for key in ("time_from", "rate_from"):
        if (text := getattr(choice, key)) and (fault := reported.fault(text)):
            yield Fault(f"'{text}' {fault}", key=f"program.{key}")


def _places(found: Sequence[str], env: Mapping[str, str], base: Mapping[str, Value]) -> Iterator[Fault]:
    known = {**base, **words.Counts(1, 1, 1).values()}
    for key, texts in ((KEY, found), *((f"program.env.{name}", (text,)) for name, text in env.items())):
        for text in texts:
            try:
                words.fill(text, known)
            except ValueError as error:
                yield Fault(str(error), key=key)
    if clash := sorted(set(base) & set(words.COUNTS)):
        yield Fault(f"'{clash[0]}' stands for processors in a command; another name was expected", key="parameters")


def _program(request: Request, found: Sequence[str], directory: Path) -> Iterator[Fault]:
    """Yield a fault if the command is to run here but its first word cannot be started."""
    choice = request.target
    if not found or words.names(found[0]) or target_named(choice.name).away(choice.settings):
        return
    if target_named(choice.name).on_workers:
        return
    path = directory / found[0]
    if "/" not in found[0]:
        if shutil.which(found[0], path=request.program.env.get("PATH")) is None:
            beside = f"; './{found[0]}' is a file here" if path.is_file() else ""
            yield Fault(f"'{found[0]}': no such program in PATH{beside}", key=KEY)
    elif not path.is_file():
        yield Fault(f"'{found[0]}': no such file", key=KEY)
    elif shutil.which(str(path)) is None:
        yield Fault(f"'{found[0]}' is not executable; write what runs it before it, or chmod +x", key=KEY)


def _rest(request: Request) -> Iterator[Fault]:
    """Yield settings of a request that apply only to programs built by ScaleGraph."""
    choice = request.program
    for key in ("cflags", "ldflags", "include"):
        if getattr(choice, key):
            yield Fault("belongs to a program that is compiled; a command is measured as it is", key=f"program.{key}")
    if request.schedule:
        yield Fault(
            "schedules are set in programs that ScaleGraph builds; a command is measured as it is", key="schedule"
        )
    if request.timed:
        yield Fault("a command has no regions; --time-from takes the time that it prints", key="timed")
    if request.trace is not None:
        yield Fault("a command leaves no trace; build the program with ScaleGraph's compilers for that", key="trace")
    if request.predict is not None:
        yield Fault("a command has no regions to predict from; laws and models fit its times", key="predict")
    if target_named(request.target.name).source == "simulated":
        text = "a command is measured; target 'host' was expected, or another real one (scalegraph measure)"
        yield Fault(text, key="target.name")


def grown(formulas: Mapping[str, str]) -> tuple[dict[str, Value], dict[str, str]]:
    """Return the values at N = 1 of parameters that grow by *formulas* in N, and their factors over N.

    Raises `ValueError` for an invalid formula, or one not above 0 at N = 1.
    """
    base: dict[str, Value] = {}
    factors: dict[str, str] = {}
    for name, text in formulas.items():
        try:
            first = expression.parse(text, frozenset({"N"}))({"N": 1.0})
        except ValueError as error:
            raise ValueError(f"'{name}={text}': {error}") from None
        if first <= 0:
            raise ValueError(f"'{name}={text}' is {as_read(first)} at N = 1; a value above 0 was expected")
        base[name] = int(first) if first == int(first) else first
        factors[name] = f"({text}) / {first!r}"
    return base, factors


def build(found: Resolved) -> Build:
    """Return a stand-in for the build of *found*'s command: its digest distinguishes programs."""
    return Build(
        program=found.target.program,
        executable=Path(sys.executable),
        launcher=Path(sys.executable),
        blocks=Path(sys.executable),
        regions=(),
        sources=(),
        remarks=tuple(_remarks(found)),
        digest=_digest(found),
        command=True,
    )


def _remarks(found: Resolved) -> Iterator[str]:
    if not _names_n(found):
        yield UNNAMED


def _names_n(found: Resolved) -> bool:
    texts = (*found.target.args, *found.target.env.values())
    return any(name in words.COUNTS for text in texts for name in words.names(text))


def _digest(found: Resolved) -> str:
    """Return a digest that distinguishes programs: the words before they are filled in, and the files that they run."""
    choice = found.request.program
    known = [choice.command, str(choice.shell), choice.time_from, choice.rate_from, *program_contents(found)]
    return hashlib.sha256("\0".join(known).encode()).hexdigest()


def program_contents(found: Resolved) -> list[str]:
    """Return names and digests of the files that *found*'s command runs: its first word, and the program it starts."""
    started = words.split(found.request.program.command, shell=False)
    known = []
    for word in dict.fromkeys((started[0], *(word for word in started if Path(word).stem == found.target.program))):
        known += [word, _content(found.target.run_dir, word)]
    return known


def _content(directory: Path, word: str) -> str:
    path = directory / word
    if not path.is_file():
        return ""  # a program in PATH: noticing another version of it is left to the user
    about = path.stat()
    if about.st_size > _LARGEST:
        return f"{about.st_size} bytes of {about.st_mtime_ns}"
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def counts(found: Resolved, processors: int) -> words.Counts:
    """Return what *processors* mean for the command of *found*."""
    texts = (*found.target.args, *found.target.env.values())
    return words.counts(texts, processors, found.request.program, targeting.settings(found.request))


def started(found: Resolved, job: Job) -> Job:
    """Return *job* with the words and the environment of its run."""
    point: RunPoint = job.point
    all_counts = counts(found, point.processors)
    values = {**point.parameters, **all_counts.values()}
    env = {name: words.fill(text, values) for name, text in found.target.env.items()}
    if not _names_n(found) and _THREADS not in env:
        env[_THREADS] = str(point.processors)
    args = tuple(words.fill(text, values) for text in found.target.args)
    choice, family = found.request.program, found.family
    command = AsItIs(
        choice.time_from,
        choice.rate_from,
        family.work_of(point.parameters) if family.grows else 1.0,
        all_counts.processes,
        all_counts.threads,
        all_counts.nodes,
        stacks=choice.stacks and not point.repetition,
    )
    return replace(job, args=args, env=env, command=command)


def shuffled(jobs: Sequence[Job], *, by_count: bool = False) -> list[Job]:
    """Return *jobs* in a random but reproducible order; each point is warmed up once.

    Drift on the computer (heat, other users) then does not look like an effect of N. *by_count*: jobs with the same N
    stay together, as they share nodes.
    """

    def place(job: Job) -> tuple[bytes, bytes]:
        count = _hashed(str(job.point.processors)) if by_count else b""
        return count, _hashed(job.point.key)

    order = sorted(jobs, key=place)
    cold = {_place(job) for job in jobs if not job.point.repetition}
    found = []
    for job in order:
        warm = _place(job) not in cold
        found.append(replace(job, measuring=replace(job.measuring, warm_up=0)) if warm else job)
        cold.discard(_place(job))
    return found


def _hashed(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _place(job: Job) -> str:
    return job.point.model_copy(update={"repetition": 0}).key
