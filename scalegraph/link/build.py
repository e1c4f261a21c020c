"""A program ready to run on a target, and the limits of a run: what higher layers pass to a link."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from scalegraph.base.cancel import CancelToken
from scalegraph.base.run import Region

if TYPE_CHECKING:
    from scalegraph.instrument.places import LineMap, Places
    from scalegraph.instrument.plain import Plain
    from scalegraph.instrument.variables import VariableMap


@dataclass(frozen=True)
class BuiltSource:
    """One source of a built program: as the user wrote it, and as it was compiled."""

    file: str  # as the user named it
    text: str
    instrumented: str  # equals text if the file was compiled without probes


@dataclass(frozen=True)
class AsItIs:
    """How a command is measured as it is, without a build. The job's arguments are all of its words.

    *time_from*, *rate_from*: patterns that find its time or rate in its output; *work*: the amount of work that the
    rate counts, 1 at the base size. *processes*, *threads* per process, *nodes*: what N means for it. *stacks*: sample
    its call paths in one more run.
    """

    time_from: str = ""
    rate_from: str = ""
    work: float = 1.0
    processes: int = 1
    threads: int = 1
    nodes: int = 1
    stacks: bool = False


@dataclass(frozen=True)
class Build:
    """A program built for a target, or a stand-in for a *command*, which needs no build.

    *lines* and *variables* are read when a run's costs are first attributed to them: from the file *places*, or else
    from the executable's debug information. *plain* builds the same program without hooks, once, for a machine whose
    pipeline model needs the loops as they are without hooks; None where that is not possible.
    """

    program: str  # name for display: the first source without its directory and ending
    executable: Path
    launcher: Path  # program that starts it, see runtime.library
    blocks: Path  # block table, see runtime.format
    regions: tuple[Region, ...]
    sources: tuple[BuiltSource, ...]
    remarks: tuple[str, ...]  # the compiler's warnings and ours, each with the user's file:line
    digest: str  # of its behaviour: runs of programs with the same digest can be compared
    file_digest: str = ""  # of a user's executable; studies of ScaleGraph 0.1.0 may use it as the key
    root: str = ""  # files are named relative to it; if empty, as given to the compiler
    places: Path | None = None  # see instrument.places
    mpi: bool = False  # an MPI program: its processors are processes with one or more threads
    command: bool = False  # a command: we built none of its files and do not know its places
    plain: Callable[[CancelToken], Plain] | None = field(default=None, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    _places: list[Places] = field(default_factory=list, repr=False, compare=False)
    _variables: list[VariableMap] = field(default_factory=list, repr=False, compare=False)

    @property
    def lines(self) -> LineMap:
        """Map from code addresses to source lines."""
        with self._lock:
            return self._found().lines

    @property
    def variables(self) -> VariableMap:
        """Map from data addresses to variables."""
        with self._lock:
            if not self._variables:
                from scalegraph.instrument.variables import VariableMap

                self._variables.append(VariableMap(self.executable, self.root, self._found().variables))
            return self._variables[0]

    def _found(self) -> Places:
        """Return places and symbols; imports late, as only a run with costs by line needs those modules."""
        if not self._places:
            if self.places is not None:
                from scalegraph.instrument.places import load

                self._places.append(load(self.places))
            else:
                from scalegraph.instrument.declared import places

                self._places.append(places(self.executable, self.root))
        return self._places[0]


@dataclass(frozen=True)
class Measuring:
    """How a real run is measured.

    *pin*: which host processor a thread may use: ``close`` the next one, ``spread`` as far apart as possible, ``none``
    any. *warm_up*: unmeasured runs before the measured one; *fold_s*: regions whose visits take less time than this on
    average are added to their parents. *disturbed*: the run is repeated if other programs take more than this share of
    a processor, or its frequency changes by more.
    """

    pin: str = "close"
    warm_up: int = 0
    fold_s: float = 1e-6
    disturbed: float = 0.1
