"""The declaration of a view: name, place in the menus, options, needs, and the function that builds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from scalegraph import views
from scalegraph.base.errors import Fault, InputError
from scalegraph.figures.figure import Figure
from scalegraph.figures.way import Need
from scalegraph.subjects.option import Option, OptionValue, checked
from scalegraph.subjects.study import StudyData
from scalegraph.subjects.trace import TraceData
from scalegraph.views import empty_states
from scalegraph.views import needs as needs_
from scalegraph.views.families import SHOW_AS, Family

Subject: TypeAlias = Literal["study", "trace"]
CHOOSE: Final = "Choose"  # the group of views that show all choices of a study
_MANY: dict[Subject, str] = {"study": "studies", "trace": "traces"}
_USUAL = {need.text for need in (*needs_.RUNS, *needs_.EVENTS)}  # of nearly all views


@dataclass(frozen=True)
class View:
    """A self-describing view, from which menus, ``--help`` and documentation are made.

    *make* turns data and options into a `Figure`. Call `build`, which first checks the options and the *needs*, in
    order, and returns the empty state for the first need not met. For a need that only it can detect, *make* returns
    that need. A view needs runs, or events of a trace, unless *without*. The *subject* is a study (`StudyData`) or a
    trace (`TraceData`). A view of *several* compares data with its ``others``. A *window* view shows a time range
    (options begin, end, width) and is rebuilt when that changes. A *wide* view is a table with many columns: in a small
    window it opens maximised. The registry sets the *family*, with its *group* and *order*, of a view that is named in
    one: the option "show as" chooses another view of it.
    """

    name: str
    title: str
    description: str
    make: Callable[..., Figure | Need]
    options: tuple[Option, ...] = ()
    group: str = ""
    order: int = 100
    several: bool = False
    subject: Subject = "study"
    window: bool = False
    needs: tuple[Need, ...] = ()
    without: bool = False
    wide: bool = False
    family: Family | None = None

    @property
    def all_options(self) -> tuple[Option, ...]:
        """The options, after "show as" if the view is one of a family."""
        return (*((self.family.option(self.name),) if self.family else ()), *self.options)

    @property
    def members(self) -> tuple[View, ...]:
        """The views of the family, itself alone if it has none."""
        return tuple(map(views.get, self.family.shown_as.values())) if self.family else (self,)

    def shown_as(self, choice: OptionValue) -> View:
        """Return the view of the family for *choice* of "show as", None: this one.

        Raises:
            InputError: *choice* is not one of the family's.

        """
        if self.family is None or choice is None:
            return self
        return views.get(self.family.shown_as[str(self.family.option(self.name).parse(choice))])

    @property
    def every_need(self) -> tuple[Need, ...]:
        """The needs in the order of checking: runs or events, then the declared needs."""
        first = needs_.RUNS if self.subject == "study" else needs_.EVENTS
        return self.needs if self.without else (*first, *self.needs)

    @property
    def conditions(self) -> tuple[str, ...]:
        """The needs, as sentences, that other runs, studies or traces can meet; for listings."""
        meant = (need.general for need in self.needs if need.met or need.way)
        return tuple(text for text in meant if text not in _USUAL)

    @property
    def of_no_runs(self) -> bool:
        """Whether it shows something for a study without runs, or a trace without events."""
        first = needs_.RUNS if self.subject == "study" else needs_.EVENTS
        return not any(need is first[-1] for need in self.every_need)

    def build(self, data: StudyData | TraceData, **options: OptionValue) -> Figure:
        """Return the figure of *data*; options not given take their defaults.

        If a need is not met, the figure is the empty state: the need's message and button. The figure of a study with
        estimated runs says so.

        Raises:
            InputError: unknown options or invalid values, all of them at once; or *data* is a study but the view is of
                traces, or the reverse.

        """
        if isinstance(data, TraceData) != (self.subject == "trace"):
            given = "trace" if isinstance(data, TraceData) else "study"
            raise InputError(Fault(f"'{self.name}' is a view of {_MANY[self.subject]}, not of a {given}", key="--view"))
        if self.family is not None and SHOW_AS in options:
            return self._asked(options.pop(SHOW_AS)).build(data, **options)
        values = self.check(options)
        lacking = self.lacking(data, values)
        made = self.make(data, **values) if lacking is None else lacking
        if isinstance(made, Need):
            return self.empty(data, made)
        said = ""
        if isinstance(data, StudyData) and made.panels:
            said = data.estimated(others=self.several, choices=self.group == CHOOSE)
        return replace(made, view=self.name, estimated=said)

    def _asked(self, choice: OptionValue) -> View:
        """Return the view of the family for *choice*; only the family's own name leaves it open which that is."""
        shown = self.shown_as(choice)
        if self.family is not None and shown is not self and self.name not in (shown.name, self.family.name):
            raise InputError(
                Fault(
                    f"'{self.name}' is '{self.family.name}' shown as '{self.family.choice_of(self.name)}', but"
                    f" '{choice}' was asked for: leave {SHOW_AS} out, or name the view '{shown.name}'",
                    key=SHOW_AS,
                )
            )
        return shown

    def lacking(self, data: StudyData | TraceData, values: Mapping[str, OptionValue]) -> Need | None:
        """Return the first need that *data* does not meet, None if it meets all; *values* has all options.

        Needs that only the view itself can detect are not checked.
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
        """Return all options with typed values, but for "show as", which is `build`'s.

        Raises:
            InputError: see `build`.

        """
        values = checked(self.all_options, options, f"view '{self.name}'")
        values.pop(SHOW_AS, None)
        return values
