"""Every error that ScaleGraph raises on purpose.

- `ScaleGraphError`
    - `InputError`: bad usage or bad input, one or more faults; exit code 2
    - `WorkError`: the work failed; exit code 1
        - `BuildError`: the user's program does not compile or link
        - `RunError`: the program crashed, deadlocked or ran out of its limits
        - `StoreError`: a study cannot be read or written
        - `LinkLost`: the place where runs are carried out does not answer any more
    - `MissingTool`: something the host must provide is absent (a compiler, a display); exit code 1
    - `Cancelled`: the user stopped it; exit code 130
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, where it is, and what was expected."""

    message: str
    file: str = ""
    line: int | None = None
    column: int | None = None
    key: str = ""
    severity: str = "error"  # or "remark": worth mentioning, not an error

    def __str__(self) -> str:
        place = self.file
        if self.line is not None:
            place += f":{self.line}"
            if self.column is not None:
                place += f":{self.column}"
        parts = [part for part in (place, self.key) if part]
        text = ": ".join([*parts, self.message])
        # a fault in a file is one line, even if it quotes a multi-line value
        return text.replace("\n", "\\n") if self.file else text


def near(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` with the known name most similar to *name*, or an empty string."""
    import difflib  # imported late: few commands have a misspelt name

    match = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean '{match[0]}'?" if match else ""


class ScaleGraphError(Exception):
    """Base class; the text is a sentence for the user."""

    exit_code: ClassVar[int] = 1


class InputError(ScaleGraphError):
    """Bad input: holds every fault found, not only the first."""

    exit_code = 2

    def __init__(self, faults: Sequence[Fault] | Fault | str) -> None:
        if isinstance(faults, str):
            faults = [Fault(faults)]
        elif isinstance(faults, Fault):
            faults = [faults]
        self.faults: tuple[Fault, ...] = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class WorkError(ScaleGraphError):
    """The work was understood but failed."""


class BuildError(WorkError):
    """The user's program does not compile or link; *output* is the compiler's output."""

    def __init__(self, message: str, output: str = "") -> None:
        self.output = output
        super().__init__(message)


class RunError(WorkError):
    """A run of the user's program failed."""


class StoreError(WorkError):
    """A study cannot be read or written."""


class LinkLost(WorkError):  # noqa: N818 - reads as what it is in an except clause
    """The host of the runs does not respond; finished runs are kept."""


class MissingTool(ScaleGraphError):  # noqa: N818 - reads as what it is in an except clause
    """The host lacks something; the text says what to install."""


class Cancelled(ScaleGraphError):  # noqa: N818 - not a fault
    """The user stopped the work; finished runs are kept."""

    exit_code = 130
