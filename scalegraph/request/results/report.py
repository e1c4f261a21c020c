"""A study as a self-contained HTML or PDF file with pictures, numbers and sentences."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

import scalegraph
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, Fault, InputError
from scalegraph.base.files import write_atomic
from scalegraph.base.text import visible
from scalegraph.figures import render
from scalegraph.figures.figure import Figure
from scalegraph.figures.render import numbers
from scalegraph.request.results import front as front_
from scalegraph.request.results.assertions import Outcome
from scalegraph.request.results.front import Times
from scalegraph.subjects import judgement
from scalegraph.subjects.study import StudyData
from scalegraph.views import get, registry

_ROWS = 200  # of the numbers below a picture
_TEXTS = ("runs", "source", "lines")  # too long for a report unless requested
_FRONT = "speedup"  # the view whose picture is on the first page
ENDINGS = (".html", ".htm", ".pdf")
_GROUPS = (
    "Scalability",
    "Lost time",
    "Models",
    "Isospeed",
    "Cache and memory",
    "What would change it",
    "Compare",
)

Progress = Callable[[str, int, int], None]  # view, number done, total


@dataclass(frozen=True)
class About:
    """The user's texts for a report: its *title* instead of the study's, who made it, on what, and a *note*."""

    title: str = ""
    author: str = ""
    machine: str = ""
    note: str = ""


@dataclass(frozen=True)
class Numbers:
    """A table below a picture; *texts*: the text columns, *left_out*: what did not fit."""

    header: list[str]
    rows: list[list[str]]
    texts: list[bool]
    left_out: str


@dataclass(frozen=True)
class Part:
    """One view in the report: its *figure*, and the numbers of all its panels as *tables*."""

    name: str
    short: str
    title: str
    sentence: str
    notes: tuple[str, ...]
    figure: Figure
    tables: tuple[Numbers, ...]


@dataclass(frozen=True)
class Section:
    """Views of one group."""

    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Contents:
    """The content of a report in any format: *front*: the picture of the first page, None if there is none."""

    title: str
    author: str
    facts: list[tuple[str, str]]
    times: Times | None
    note: str
    verdicts: list[str]
    outcomes: Sequence[Outcome]
    front: Part | None
    sections: list[Section]
    absent: list[str]
    request: str
    machine: str


def contents(
    data: StudyData,
    views: Sequence[str] = (),
    *,
    outcomes: Sequence[Outcome] = (),
    request: str = "",
    about: About | None = None,
    cancel: CancelToken | None = None,
    progress: Progress = lambda _view, _done, _all: None,
) -> Contents:
    """Return the content of a report on *data*: verdicts, *outcomes* of statements, and *views* with their numbers.

    By default all views that have something to show, except long texts; views of several studies are included if *data*
    has `StudyData.others`. *request* and the user's texts *about* the report are shown as they are. A view that fails
    leaves a message in its place. Raises `InputError` for an unknown view, `Cancelled`.
    """
    said = about or About()
    names = list(views) or _usual(data)
    sections: dict[str, list[Part]] = {}
    absent: list[str] = []
    front: Part | None = None
    for done, name in enumerate(names):
        (cancel or CancelToken()).check()
        view = get(name)
        progress(view.title, done, len(names))
        try:
            figure = view.build(data)
            part = None if figure.empty else _part(view.title, figure)
        except Cancelled:
            raise
        except InputError as error:
            absent.append(f"{view.title}: {error}")
            continue
        except Exception as error:  # noqa: BLE001 - a view is one of many: it says so in its place
            absent.append(f"{view.title}: it could not be drawn, an error of ScaleGraph itself ({_named(error)})")
            continue
        if part is not None and name == _FRONT:
            front = part
        elif part is not None:
            sections.setdefault(view.group, []).append(part)
        elif views:
            absent.append(f"{view.title}: {figure.told}")
    if not sections and front is None and not outcomes:
        raise InputError(f"{data.name or 'the study'}: there is nothing to report; no run of it gives a view")
    order = sorted(sections, key=lambda group: (_GROUPS.index(group) if group in _GROUPS else len(_GROUPS), group))
    return Contents(
        title=said.title or _title(data, said.machine),
        author=said.author,
        facts=front_.facts(data, said.machine),
        times=front_.times(data),
        note=said.note,
        verdicts=[item.text for item in judgement.said(data)] if not data.table.empty else [],
        outcomes=outcomes,
        front=front,
        sections=[Section(group, tuple(sections[group])) for group in order],
        absent=absent,
        request=request,
        machine=json.dumps(data.manifest.get("machine_values") or {}, indent=1, default=str),
    )


def report(data: StudyData, views: Sequence[str] = (), **options: Any) -> str:
    """Return the report on *data* as self-contained HTML; see `contents`."""
    import jinja2

    found = contents(data, views, **options)
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined, finalize=_shown
    )
    environment.globals["picture"] = _svg
    template = resources.files("scalegraph.request").joinpath("templates/report.html").read_text("utf-8")
    return environment.from_string(template).render(**vars(found), version=scalegraph.__version__)


def write(data: StudyData, path: Path, views: Sequence[str] = (), **options: Any) -> None:
    """Write the report on *data* to *path* as HTML or PDF by its ending, atomically; see `contents`.

    Raises `InputError` for another ending before anything is made.
    """
    check_ending(path)
    if path.suffix.lower() != ".pdf":
        write_atomic(path, report(data, views, **options))
        return
    from scalegraph.request.results import report_pdf

    found = contents(data, views, **options)
    write_atomic(path, report_pdf.pdf(found, options.get("cancel")))


def check_ending(path: Path, key: str = "") -> None:
    """Raise `InputError` for a file name that no report can be written to."""
    if path.suffix.lower() not in ENDINGS:
        expected = "an ending of .html or .pdf was expected"
        raise InputError(Fault(f"'{path.name}': {expected}", key=key) if key else Fault(expected, file=str(path)))


def _svg(figure: Figure) -> str:
    alone = replace(figure, estimated="")  # the notes below the picture say it
    return base64.b64encode(render.content(alone, "svg", caption=False)).decode()


def _shown(value: Any) -> Any:
    """Return a text of the study with control characters made visible; existing HTML is unchanged."""
    return visible(value) if type(value) is str else value


def _usual(data: StudyData) -> list[str]:
    return [view.name for view in registry().values() if view.name not in _TEXTS and (data.others or not view.several)]


def _part(short: str, figure: Figure) -> Part:
    tables = tuple(map(_numbers, numbers.parts(figure)))
    return Part(figure.view, short, figure.title, figure.sentence, figure.remarks, figure, tables)


def _numbers(figure: Figure) -> Numbers:
    _, rows = numbers.header_and_rows(figure)
    header, cells = numbers.readable(figure)
    texts = [any(isinstance(row[i], str) for row in rows) for i in range(len(header))]
    left_out = f" (the first {_ROWS} of {len(rows)} rows)" if len(rows) > _ROWS else ""
    return Numbers(header, cells[:_ROWS], texts, left_out)


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]


def _title(data: StudyData, machine: str = "") -> str:
    title = str(data.manifest.get("title") or data.manifest.get("program") or data.name or "Study")
    where = machine or ("" if data.machine_title == "unknown" else data.machine_title)
    return f"{title} on {where}" if where else title
