"""The declaration of a view: its name, its place in the menus, its options as data, and how it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from scalegraph.base.errors import Fault, InputError
from scalegraph.figures.figure import Figure
from scalegraph.figures.way import Need
from scalegraph.subjects.option import Option, OptionValue, checked
from scalegraph.subjects.study import StudyData
from scalegraph.subjects.trace import TraceData
from scalegraph.views import empty_states
from scalegraph.views import needs as needs_

Subject: TypeAlias = Literal["study", "trace"]
_MANY: dict[Subject, str] = {"study": "studies", "trace": "traces"}
_USUAL = {need.text for need in (*needs_.RUNS, *needs_.EVENTS)}  # of nearly all views


@dataclass(frozen=True)
class View:
    """A self-describing view: menus, ``--help`` and documentation are made from it.

    *make* turns what the view shows and the options into a `Figure`; call `build`, which checks the options and the
    *needs* first, in their order, and makes the empty state of one that is not met: *make* only draws. What only the
    view itself can find out it returns as one of its *needs*. A view needs runs, or events of a trace, unless *without*
    says that it shows something of a study without runs, or of a trace without events. The *subject* is a study
    (`StudyData`) or a trace (`TraceData`). A view for *several* compares it with its ``others``. A *window* view shows
    a stretch of time (options begin, end, width) and is built again when that changes. A *wide* view is a table whose
    columns are compared: it opens with all the room of a window in which it would have a part of them.
    """

    name: str
    title: str
    group: str
    description: str
    make: Callable[..., Figure | Need]
    options: tuple[Option, ...] = ()
    order: int = 100
    several: bool = False
    subject: Subject = "study"
    window: bool = False
    needs: tuple[Need, ...] = ()
    without: bool = False
    wide: bool = False

    @property
    def every_need(self) -> tuple[Need, ...]:
        """What the view needs, in the order in which it is checked: runs or events, then the declared needs."""
        first = needs_.RUNS if self.subject == "study" else needs_.EVENTS
        return self.needs if self.without else (*first, *self.needs)

    @property
    def conditions(self) -> tuple[str, ...]:
        """The sentences of its needs that more runs, another study or a trace with more in it meet, for listings."""
        meant = (need.general for need in self.needs if need.met or need.way)
        return tuple(text for text in meant if text not in _USUAL)

    @property
    def of_no_runs(self) -> bool:
        """Whether it shows something of a study without runs, or of a trace without events."""
        first = needs_.RUNS if self.subject == "study" else needs_.EVENTS
        return not any(need is first[-1] for need in self.every_need)

    def build(self, data: StudyData | TraceData, **options: OptionValue) -> Figure:
        """Return the figure of *data*; options not given take their defaults.

        Where a need of the view is not met, that is its empty state: the sentence of the need, and its button.

        Raises:
            InputError: an unknown option, or a value that does not fit, all of them at once; or *data* is a trace and
                this is a view of studies, or the other way round.

        """
        if isinstance(data, TraceData) != (self.subject == "trace"):
            given = "trace" if isinstance(data, TraceData) else "study"
            raise InputError(Fault(f"'{self.name}' is a view of {_MANY[self.subject]}, not of a {given}", key="--view"))
        values = self.check(options)
        lacking = self.lacking(data, values)
        made = self.make(data, **values) if lacking is None else lacking
        return self.empty(data, made) if isinstance(made, Need) else replace(made, view=self.name)

    def lacking(self, data: StudyData | TraceData, values: Mapping[str, OptionValue]) -> Need | None:
        """Return the first need that *data* does not meet with *values* of all options; None if it meets all.

        Needs that only the view itself can find out are left out.
        """
        return next((need for need in self.every_need if need.met and not need.met(data, **values)), None)

    def empty(self, data: StudyData | TraceData, need: Need) -> Figure:
        """Return the empty state: what is missing, and how to get it.

        Raises:
            ValueError: the view does not declare *need*.

        """
        if (need.declared or need) not in self.every_need:
            raise ValueError(f"view '{self.name}' does not declare that it needs: {need.text}")
        if isinstance(data, TraceData):
            return empty_states.of_trace(self.name, self.title, data, need)
        return empty_states.of_study(self.name, self.title, data, need)

    def check(self, options: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
        """Return every option with its typed value.

        Raises:
            InputError: see `build`.

        """
        return checked(self.options, options, f"view '{self.name}'")
