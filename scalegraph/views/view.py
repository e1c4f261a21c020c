"""What a view is: its name, its place in the menus, its options declared as data, and how it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from scalegraph.base.errors import Fault, InputError
from scalegraph.figures.figure import Figure
from scalegraph.subjects.option import Option, OptionValue, checked
from scalegraph.subjects.study import StudyData
from scalegraph.subjects.trace import TraceData

Subject: TypeAlias = Literal["study", "trace"]
_MANY: dict[Subject, str] = {"study": "studies", "trace": "traces"}


@dataclass(frozen=True)
class View:
    """A self-describing view: menus, ``--help`` and documentation are made from it.

    *make* turns what the view shows and the options into a `Figure`; call `build`, which checks the options first. The
    *subject* is a study (`StudyData`) or a trace (`TraceData`). A view for *several* compares it with its ``others``.
    A *window* view shows a stretch of time (options begin, end, width) and is built again when that changes.
    """

    name: str
    title: str
    group: str
    description: str
    make: Callable[..., Figure]
    options: tuple[Option, ...] = ()
    order: int = 100
    several: bool = False
    subject: Subject = "study"
    window: bool = False

    def build(self, data: StudyData | TraceData, **options: OptionValue) -> Figure:
        """Return the figure of *data*; options not given take their defaults.

        Raises:
            InputError: an unknown option, or a value that does not fit, all of them at once; or *data* is a trace and
                this is a view of studies, or the other way round.

        """
        if isinstance(data, TraceData) != (self.subject == "trace"):
            given = "trace" if isinstance(data, TraceData) else "study"
            raise InputError(Fault(f"'{self.name}' is a view of {_MANY[self.subject]}, not of a {given}", key="--view"))
        return self.make(data, **self.check(options))

    def check(self, options: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
        """Return every option with its typed value.

        Raises:
            InputError: see `build`.

        """
        return checked(self.options, options, f"view '{self.name}'")
