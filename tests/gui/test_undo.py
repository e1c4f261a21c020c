from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtGui import QUndoStack

from scalegraph.gui.base import undo
from scalegraph.gui.base.edit_model import EditModel
from scalegraph.gui.base.undo import Change, UndoStack
from scalegraph.gui.state.option_history import OptionHistory
from scalegraph.gui.state.trace_filter import Filter


class Owner:
    """Has the state last given to it."""

    def __init__(self) -> None:
        self.state: Any = 0

    def take(self, state: Any) -> None:
        self.state = state


@pytest.fixture
def little_garbage() -> Iterator[None]:
    """Exclude earlier objects from collections: with a whole session's modules each takes half a second."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.slow
@pytest.mark.usefixtures("little_garbage")
def test_a_stack_goes_with_its_commands_in_whatever_order_python_takes_a_cycle_apart(qtbot: Any) -> None:
    """Qt's own stack crashes here, because the commands are older than the stack."""
    before = len(undo._COMMANDS)
    for _ in range(20):
        owner = Owner()
        commands = [Change(str(number), owner.take, number, number + 1) for number in range(3)]
        gc.collect()
        stack = UndoStack()
        for command in commands:
            stack.push(command)
        assert owner.state == 3
        stack.undo()
        assert owner.state == 2
        ring: list[Any] = [stack]
        ring.append(ring)
        del commands, command, stack, ring
        gc.collect()
    assert len(undo._COMMANDS) == before


def test_commands_that_qt_has_forgotten_are_forgotten(qtbot: Any) -> None:
    model = EditModel(Filter())
    for number in range(500):
        model.edit("filter", typing="region", region="r" * number)
    assert model.undo_stack.count() == 1
    assert len(undo._COMMANDS[id(model.undo_stack)]) < 200
    model.undo_stack.undo()
    assert model.state == Filter()


def test_a_choice_is_not_made_again_when_it_is_remembered(qtbot: Any) -> None:
    made: list[tuple[object, ...]] = []
    history = OptionHistory(lambda *choice: made.append(choice))
    assert isinstance(history.stack, QUndoStack)
    history.changed(("speedup", "s"), "Speedup", "scale", "linear", "log")
    assert made == []
    history.stack.undo()
    history.stack.redo()
    assert made == [(("speedup", "s"), "scale", "linear"), (("speedup", "s"), "scale", "log")]
