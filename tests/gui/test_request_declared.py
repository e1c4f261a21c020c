"""Labels, tooltips and ranges in the request panel come from the declarations of the request's values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the window needs Qt and its libraries", exc_type=ImportError)

from PySide6.QtWidgets import QCheckBox, QLabel, QWidget

from scalegraph.base.asked import every
from scalegraph.gui.request.form import BoundForm
from scalegraph.gui.request.sections import VALUE
from scalegraph.gui.request.widgets import Choice, Entry, PairsEditor
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.request.model.parts import BOUNDS
from scalegraph.request.model.request import Request
from scalegraph.request.model.values import request_value

pytestmark = pytest.mark.slow

Show = Callable[..., None]
# edited elsewhere: in the What if panel, in a bound, in the machine's list or by the panel as a whole
ELSEWHERE = {
    *(key for key, _ in every(Request) if key.partition(".")[0] in ("what_if", "speedups")),
    *(
        "bound",
        "bound.processors",
        "limits",
        "machine",
        "machine.path",
        "program.name",
        "reference",
        "scaling",
        "schedules",
        "target",
    ),
}


def editors(window: MainWindow) -> dict[str, list[QWidget]]:
    """Return the editors on the request and command pages by the key of the value they edit."""
    found: dict[str, list[QWidget]] = {}
    for widget in (*window.request.findChildren(QWidget), *window.measure.findChildren(QWidget)):
        if key := widget.property(VALUE):
            found.setdefault(key, []).append(widget)
    return found


def test_every_value_has_an_editor_with_the_declared_tooltip_and_range(window: MainWindow, choose: Show) -> None:
    choose()
    window.request.model.edit("x", bounds=(BoundForm.of_kind("efficiency"),))
    found = editors(window)
    assert {key for key, _ in every(Request)} - set(found) == ELSEWHERE
    for key, widgets in found.items():
        said = request_value(key)
        for widget in widgets:
            words = BOUNDS["efficiency"]
            tip = {"bound.kind": words.help, "bound.value": words.value}.get(key, said.tip())
            assert widget.toolTip() == tip, key
            assert said.span() in widget.toolTip()
            assert widget.accessibleName(), key
            if isinstance(widget, Entry) and key != "bound.value" and not key.startswith(("bound.max", "bound.tol")):
                assert widget.placeholderText() == said.placeholder(), key
            if isinstance(widget, Choice) and said.choices:
                shown = {widget.itemData(i): widget.itemText(i) for i in range(widget.count())}
                assert shown == dict(said.choices), key
            if isinstance(widget, QCheckBox):
                assert widget.text() == said.label, key


def test_every_field_of_the_panel_has_the_declared_label(window: MainWindow, choose: Show) -> None:
    choose()
    window.request.model.edit("x", bounds=(BoundForm.of_kind("efficiency"),))
    seen = 0
    for section in window.request.sections:
        for field in section.fields:
            inside = [field.editor, *field.editor.findChildren(QWidget)]
            keys = [key for one in inside if (key := one.property(VALUE))]
            assert keys, field.keys
            if isinstance(field.editor, PairsEditor) and keys == ["parameters"]:
                continue  # the section's heading is its label
            if field.keys[0].startswith("bound."):
                texts = {label.text() for label in field.findChildren(QLabel)}
                assert {request_value(f"bound.{name}").short for name in ("tolerance", "max_runs")} <= texts
                continue
            (first, *_rest) = [key for key in keys if key in field.keys]
            titles = [label.text() for label in field.findChildren(QLabel) if label.buddy() is field.editor]
            assert titles == [request_value(first).label]
            seen += 1
    assert seen > 30


def test_a_number_out_of_range_shows_the_declared_range_beside_its_field(
    window: MainWindow, qtbot: Any, choose: Show
) -> None:
    choose()
    window.request.model.edit("x", repetitions="0", time_s="0", memory_bytes="1 KiB")
    faults = {item.keys[0]: item.fault for item in window.request.runs.fields}
    qtbot.waitUntil(lambda: bool(faults["repetitions"].text()))
    assert faults["repetitions"].text() == "expected 1 to 1000 runs; got 0"
    assert faults["limits.time_s"].text() == "expected more than 0 s, at most 720 h; got 0.0"
    assert faults["limits.memory_bytes"].text() == "expected at least 64 MiB; got 1024"
    window.request.model.edit("x", repetitions="many", time_s="", memory_bytes="1 GiB")
    qtbot.waitUntil(lambda: "many" in faults["repetitions"].text())
    assert faults["repetitions"].text() == "a whole number of runs was expected, got 'many'"
    assert faults["limits.memory_bytes"].text() == ""


def test_a_fault_stands_beside_the_field_of_its_value_in_whatever_section_that_is(
    window: MainWindow, qtbot: Any, choose: Show
) -> None:
    choose()
    window.request.model.edit("x", ranks_per_node="a", threads_per_process="b")
    panel = window.request
    faults = {item.keys[0]: item.fault for section in panel.sections for item in section.fields}
    qtbot.waitUntil(lambda: bool(faults["program.ranks_per_node"].text()))
    assert faults["program.ranks_per_node"].text() == "a whole number of ranks was expected, got 'a'"
    assert faults["program.threads_per_process"].text() == "a whole number of threads was expected, got 'b'"
    assert faults["program"].text() == ""
