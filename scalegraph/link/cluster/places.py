"""Where runs are carried out: the addresses of ``--on``, and the settings of each kind of place."""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scalegraph.base.errors import Fault, InputError, MissingTool, near

OTHERS: Final = ("tcp", "tls")  # kinds of places that ScaleGraph does not start
INSTALL: Final = "pip install 'scalegraph[cluster]'"
_WORD: Final = re.compile(r"[^\x00-\x1f\x7f]+")


@dataclass(frozen=True)
class Setting:
    """A setting of a place (``--set NAME=VALUE``); a *number* or a word."""

    name: str
    help: str
    number: bool = False


@dataclass(frozen=True)
class Place:
    """A kind of place: *name* begins its addresses, *example* is one of them; *needs*: Python modules."""

    name: str
    title: str
    example: str
    settings: tuple[Setting, ...] = ()
    needs: tuple[str, ...] = ("distributed",)
    pattern: str = ""  # of what follows the colon


_LINGER: Final = Setting(
    "linger", "seconds for which workers stay after the last run if ScaleGraph was killed (45)", number=True
)
_TLS: Final = tuple(
    Setting(name, f"file with the {what} for encrypted connections")
    for name, what in (("tls-ca", "certificates to trust"), ("tls-cert", "certificate"), ("tls-key", "private key"))
)
_BATCH: Final = (
    Setting("workers", "batch jobs to submit, each a worker (1)", number=True),
    Setting("cores", "runs side by side in each batch job (1)", number=True),
    Setting("memory", "memory of each batch job (2 GiB)"),
    Setting("partition", "partition or queue"),
    Setting("account", "account or project to charge"),
    Setting("walltime", "time limit of each batch job, in the batch system's format (01:00:00)"),
    Setting("interface", "network interface through which the nodes reach this host"),
    Setting("directives", "further options of the batch system, separated by commas"),
    Setting("prologue", "command that each batch job executes first (module load ..)"),
    Setting("python", "Python on the nodes, if not at the path of this one"),
    Setting("log-directory", "directory for the batch jobs' output"),
    _LINGER,
)
_HOST: Final = r"([\w.-]+@)?[\w.-]+(:\d{1,5})?"
_ADDRESS: Final = r"//[^\s/]+:\d{1,9}/?"
_MOST_PORT: Final = 65535
_JOBQUEUE: Final = ("distributed", "dask_jobqueue")

PLACES: Final[Mapping[str, Place]] = {
    place.name: place
    for place in (
        Place("tcp", "A running Dask scheduler", "tcp://scheduler:8786", pattern=_ADDRESS),
        Place("tls", "The same with encrypted connections", "tls://scheduler:8786", _TLS, pattern=_ADDRESS),
        Place(
            "local",
            "Workers as processes of this host",
            "local:4",
            (Setting("threads", "runs side by side in each worker (1)", number=True), _LINGER),
            pattern=r"[1-9]\d{0,3}",
        ),
        Place(
            "ssh",
            "Workers on hosts reached by SSH, the scheduler on the first",
            "ssh:node1,node2",
            (
                Setting("threads", "runs side by side in each worker (1)", number=True),
                Setting("user", "account on these hosts"),
                Setting("python", "Python on these hosts, if not at the path of this one"),
                _LINGER,
            ),
            ("distributed", "asyncssh"),
            rf"{_HOST}(,{_HOST})*",
        ),
        Place("slurm", "Batch jobs of Slurm", "slurm:", _BATCH, _JOBQUEUE),
        Place("pbs", "Batch jobs of PBS", "pbs:", _BATCH, _JOBQUEUE),
        Place("lsf", "Batch jobs of LSF", "lsf:", _BATCH, _JOBQUEUE),
        Place("sge", "Batch jobs of Grid Engine", "sge:", _BATCH, _JOBQUEUE),
    )
}
"""Every kind of place by its name."""


@dataclass(frozen=True)
class Where:
    """A place: its *kind*, the *rest* of its address, its *settings*."""

    kind: str
    rest: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The address as it is written."""
        return f"{self.kind}:{self.rest}"

    @property
    def name(self) -> str:
        """The address in sentences: ``slurm`` for ``slurm:``."""
        return self.address.removesuffix(":")

    @property
    def line(self) -> str:
        """The address with its settings, as `parse_line` takes them."""
        return shlex.join([self.address, *(f"{name}={value}" for name, value in self.settings.items())])

    def number(self, name: str, otherwise: float) -> float:
        """Return the numeric setting *name*; *otherwise* if it is not set."""
        return float(self.settings.get(name, otherwise))


def parse(address: str, settings: Sequence[str] = ()) -> Where:
    """Return the place that *address* names, with *settings* as ``NAME=VALUE``.

    Raises `InputError` with every fault and what was expected.
    """
    kind, colon, rest = address.strip().partition(":")
    place = PLACES.get(kind)
    if place is None or not colon:
        expected = ", ".join(item.example for item in PLACES.values())
        raise InputError(
            Fault(f"'{address}' is not a place for runs{near(kind, PLACES)}; expected one like {expected}", key="on")
        )
    faults = []
    if not re.fullmatch(place.pattern, rest):
        message = f"'{address}' is not an address of {place.title.lower()}; expected {place.example}"
        faults.append(Fault(message, key="on"))
    elif ports := [port for port in re.findall(r":(\d+)", rest) if not 1 <= int(port) <= _MOST_PORT]:
        faults.append(Fault(f"'{address}': there is no port {ports[0]}; expected 1 to {_MOST_PORT}", key="on"))
    known = {item.name: item for item in place.settings}
    values: dict[str, str] = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if name not in known:
            hint = near(name, known) or f"; it has {', '.join(known) or 'none'}"
            faults.append(Fault(f"'{kind}:' has no setting '{name}'{hint}", key="set"))
        elif not equals or not _WORD.fullmatch(value):
            faults.append(Fault(f"'{text}' has no value; expected {name}=VALUE", key="set"))
        elif known[name].number and not re.fullmatch(r"\d{1,6}(\.\d+)?", value):
            faults.append(Fault(f"'{text}' has no number of at most 999999; expected {name}=NUMBER", key="set"))
        else:
            values[name] = value
    if kind == "tls":
        faults += _certificate_faults(values, address)
    if faults:
        raise InputError(faults)
    return Where(kind, rest, values)


def _certificate_faults(values: Mapping[str, str], address: str) -> list[Fault]:
    """Return a fault for each missing or unreadable file that an encrypted connection needs."""
    names = [item.name for item in _TLS]
    if lacking := [name for name in names if name not in values]:
        words = " ".join(f"--set {name}=FILE" for name in lacking)
        return [Fault(f"'{address}' is reached with certificates only; expected {words}", key="set")]
    return [
        Fault(f"there is no file '{values[name]}'; expected --set {name}=FILE", key="set")
        for name in names
        if not Path(values[name]).is_file()
    ]


def parse_line(text: str) -> Where | None:
    """Parse a *text* like ``slurm: partition=night workers=4``; return None if it is empty. Raises as `parse` does."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(Fault(f"'{text}': {error}".lower(), key="on")) from None
    return parse(words[0], words[1:]) if words else None


def check_installed(where: Where) -> None:
    """Raise `MissingTool` if a Python module that *where* needs is not installed."""
    if missing := lacking(where.kind):
        raise MissingTool(f"runs on '{where.address}' need {' and '.join(missing)}; install with: {INSTALL}")


def lacking(kind: str) -> list[str]:
    """Return the packages that places of a *kind* need and that are not installed."""
    return [name.replace("_", "-") for name in PLACES[kind].needs if importlib.util.find_spec(name) is None]
