"""Actions of a random user: input anywhere in the window, and actions that input alone would seldom reach."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, Final

from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QObject, QPoint, QPointF, Qt, QThread, QTimer, QUrl
from PySide6.QtGui import QAction, QDropEvent, QGuiApplication, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
    QMenu,
    QTabBar,
    QToolButton,
    QWidget,
)
from shiboken6 import isValid

from scalegraph import views
from scalegraph.gui.dock.view_dock import ViewDock
from scalegraph.gui.shell.main_window import MainWindow
from tests.gui.monkey.watch import Watch

KEPT: Final = 25  # number of last steps that a report names
NEVER: Final = frozenset({"quit"})
LEFT, RIGHT, MIDDLE = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton, Qt.MouseButton.MiddleButton
NONE, SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
CONTROL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
SIZES: Final = ((1024, 700), (1280, 720), (1366, 768), (1600, 900), (1920, 1080))
LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
NAMED: Final = (
    "Space Escape Return Tab Backtab Left Right Up Down Home End PageUp PageDown Plus Minus Period Comma Slash Question"
    " Backspace Delete F1 F3 Menu"
)
KEYS: Final = tuple(getattr(Qt.Key, f"Key_{key}") for key in (*LETTERS, *NAMED.split()))
WORDS: Final = ("", "main", "n", "8", "2, 4, 8", "0.5", "-1", "x" * 300, "solve", "[", "barrier", "balls=1024", "ä %s")


class Unblock(QObject):
    """Ends nested event loops (of a menu, a dialog, a drag), which nothing else would end in a test."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch
        self.number = 0  # number of the current step
        self._last, self._seen = -1, 0
        self._timer = QTimer(self, interval=60)
        self._timer.timeout.connect(self._look)
        self._timer.start()

    def _look(self) -> None:
        inside = QThread.currentThread().loopLevel() > 0  # no application loop runs here
        self._seen = self._seen + 1 if inside and self.number == self._last else 0
        self._last = self.number
        if self._seen >= 2:
            close_popup()
            modal = QApplication.activeModalWidget()
            if modal is not None:
                modal.close()
            target = QGuiApplication.focusWindow() or next(iter(QGuiApplication.topLevelWindows()), None)
            if target is not None:
                QTest.keyClick(target, Qt.Key.Key_Escape)


def close_popup() -> None:
    """Close every menu that is open."""
    for _ in range(8):
        popup = QApplication.activePopupWidget()
        if popup is None:
            return
        popup.close()


class Monkey:
    """Does *steps* steps with *seed* in *window*; *files* may be opened at any time."""

    def __init__(self, window: MainWindow, watch: Watch, seed: int, files: Sequence[Path]) -> None:
        self.window, self.watch, self.random, self.files = window, watch, Random(seed), list(files)
        self.done: deque[str] = deque(maxlen=KEPT)
        self.unblock = Unblock(watch)
        self.count = 0
        self._held: list[QWidget] = []
        self.log: Callable[[str], None] = lambda _step: None
        self._steps: dict[Callable[[], None], int] = {
            self.click: 16,
            self.double_click: 4,
            self.right_click: 5,
            self.drag: 7,
            self.wheel: 7,
            self.press_key: 14,
            self.shortcut: 3,
            self.press_button: 8,
            self.act: 5,
            self.show_view: 6,
            self.change_view: 5,
            self.change_option: 7,
            self.type_somewhere: 3,
            self.choose_somewhere: 4,
            self.arrange: 3,
            self.theme: 1,
            self.resize: 2,
            self.undo: 4,
            self.palette: 2,
            self.export: 1,
            self.open_file: 2,
            self.close_study: 1,
            self.choose_study: 2,
            self.collect: 1,
            self.rest: 6,
        }

    def run(self, steps: int) -> None:
        """Do that many steps."""
        for _ in range(steps):
            self.one()

    def one(self) -> None:
        """Do one step and let the window react."""
        self.count += 1
        act = self.random.choices(list(self._steps), list(self._steps.values()))[0]
        self.say(act.__name__)
        with suppress(RuntimeError):  # PySide may drop its wrapper of Qt's widget at any time; see `do`
            act()
        for _ in range(3):
            self.do(QCoreApplication.processEvents)
        self._keep_whole()

    def say(self, text: str) -> None:
        """Name the current action, for reports."""
        self.watch.step = f"step {self.count}: {text}"
        self.done.append(self.watch.step)
        self.log(self.watch.step)

    def do(self, act: Callable[[], object]) -> None:
        """Do something within one turn."""
        self.unblock.number += 1
        self.watch.stretch(act)

    def _keep_whole(self) -> None:
        """Restore the window from full screen, minimised or closed."""
        if not self.window.isVisible() or self.window.isMinimized():
            self.window.showNormal()
        if self.random.random() < 0.1:
            self.do(close_popup)
            for widget in QApplication.topLevelWidgets():
                modal = widget.isModal() if isValid(widget) else False
                if modal and widget.isVisible():
                    self.do(widget.close)

    # where

    def surface(self) -> QWindow | None:
        """Return a window for input: a popup or dialog if one is open, else mostly the main window."""
        popup = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        if popup is not None:
            found = [popup]
        else:
            others = (widget for widget in QApplication.topLevelWidgets() if widget is not self.window)
            floating = [widget for widget in others if widget.isVisible()]
            found = floating if floating and self.random.random() < 0.25 else [self.window]
        self._held = found  # otherwise PySide forgets the window of a widget made by Qt, together with its wrapper
        surfaces = [widget.windowHandle() for widget in found]
        there = [surface for surface in surfaces if surface is not None and isValid(surface)]
        return self.random.choice(there) if there else None

    def point(self, surface: QWindow) -> QPoint:
        """Return a random point in *surface*."""
        return QPoint(self.random.randrange(max(1, surface.width())), self.random.randrange(max(1, surface.height())))

    def modifiers(self) -> Any:
        """Return random modifier keys."""
        return self.random.choice((NONE, NONE, NONE, NONE, SHIFT, CONTROL, ALT, CONTROL | SHIFT))

    def _found(self, kind: type[Any]) -> list[Any]:
        root = QApplication.activePopupWidget() or QApplication.activeModalWidget() or self.window
        return [each for each in root.findChildren(kind) if isValid(each) and each.isVisible() and each.isEnabled()]

    # input

    def click(self) -> None:
        """Click anywhere."""
        self._press(self.random.choice((LEFT, LEFT, LEFT, MIDDLE)), 1)

    def double_click(self) -> None:
        """Double-click anywhere."""
        self._press(LEFT, 2)

    def right_click(self) -> None:
        """Open a context menu anywhere, and often trigger an entry."""
        self._press(RIGHT, 1)
        self._choose_of_menu()

    def _press(self, button: Any, times: int) -> None:
        surface = self.surface()
        if surface is None:
            return
        at, keys = self.point(surface), self.modifiers()
        hit = self._under(surface, at)
        self.say(f"{times} x {button.name} at {at.x()}, {at.y()} with {keys} on {described(hit)}")
        self._to(surface, lambda: QTest.mouseMove(surface, at))
        if times == 2:
            self._to(surface, lambda: QTest.mouseDClick(surface, button, keys, at))
            return
        self._to(surface, lambda: QTest.mousePress(surface, button, keys, at))
        self._to(surface, lambda: QTest.mouseRelease(surface, button, keys, at))

    def _to(self, surface: QWindow, act: Callable[[], object]) -> None:
        """Do *act* on *surface*, unless an earlier action has closed it."""
        if isValid(surface) and surface.isVisible():
            self.do(act)

    def _under(self, surface: QWindow, at: QPoint) -> QWidget | None:
        return self.window.childAt(at) if surface is self.window.windowHandle() else None

    def drag(self) -> None:
        """Drag from anywhere to somewhere near or far."""
        surface = self.surface()
        if surface is None:
            return
        start, end, keys = self.point(surface), self.point(surface), self.modifiers()
        if self.random.random() < 0.5:
            end = start + QPoint(self.random.randint(-80, 80), self.random.randint(-80, 80))
            end = QPoint(min(max(end.x(), 0), surface.width() - 1), min(max(end.y(), 0), surface.height() - 1))
        hit = self._under(surface, start)
        self.say(f"drag from {start.x()}, {start.y()} to {end.x()}, {end.y()} with {keys} on {described(hit)}")
        self._to(surface, lambda: QTest.mousePress(surface, LEFT, keys, start))
        for part in (0.2, 0.5, 0.8, 1.0):
            at = start + (end - start) * part
            self._to(surface, lambda at=at: QTest.mouseMove(surface, at))
        self._to(surface, lambda: QTest.mouseRelease(surface, LEFT, keys, end))

    def wheel(self) -> None:
        """Turn the wheel anywhere."""
        surface = self.surface()
        if surface is None:
            return
        at, turn, keys = self.point(surface), self.random.choice((-360, -120, 120, 360)), self.modifiers()
        self.say(f"wheel {turn} at {at.x()}, {at.y()} with {keys}")
        for _ in range(self.random.randint(1, 3)):
            self._to(surface, lambda: QTest.wheelEvent(surface, QPointF(at), QPoint(0, turn), QPoint(0, 0), keys))

    def press_key(self) -> None:
        """Press any key."""
        surface = self.surface()
        key, keys = self.random.choice(KEYS), self.random.choice((NONE, NONE, NONE, SHIFT))
        self.say(f"key {key.name} with {keys} in {described(QApplication.focusWidget())}")
        if surface is not None:
            self._to(surface, lambda: QTest.keyClick(surface, key, keys))

    def shortcut(self) -> None:
        """Press an action's shortcut."""
        actions = {name: self.window.actions_[name] for name in self.window.actions_.names() if name not in NEVER}
        known = {name: action for name, action in actions.items() if not action.shortcut().isEmpty()}
        name = self.random.choice(sorted(known))
        pressed = known[name].shortcut()[0]
        self.say(f"shortcut {known[name].shortcut().toString()} ({name})")
        handle = self.window.windowHandle()
        self.do(lambda: QTest.keyClick(handle, pressed.key(), pressed.keyboardModifiers()))

    def press_button(self) -> None:
        """Press a visible button, or trigger an entry of its menu."""
        buttons = [button for button in self._found(QAbstractButton) if not button.visibleRegion().isEmpty()]
        if not buttons:
            return
        button = self.random.choice(buttons)
        self.say(f"button {described(button)}")
        menu = button.menu() if isinstance(button, QToolButton) else None
        if menu is not None:
            self.do(lambda: menu.popup(button.mapToGlobal(QPoint(0, button.height()))))
            self._choose_of_menu()
        else:
            self.do(lambda: QTest.mouseClick(button, LEFT))

    def _choose_of_menu(self) -> None:
        popup = QApplication.activePopupWidget()
        while isinstance(popup, QMenu):
            actions = [each for each in popup.actions() if each.isEnabled() and not each.isSeparator()]
            if not actions or self.random.random() < 0.2:
                break
            action = self.random.choice(actions)
            if action.menu() is not None:
                popup = action.menu()
                self.do(popup.aboutToShow.emit)
                continue
            if action is not self.window.actions_["quit"]:
                self.say(f"entry {action.text()}")
                self.do(close_popup)
                if isValid(action):
                    self.do(action.trigger)
            break
        self.do(close_popup)

    # commands

    def act(self) -> None:
        """Trigger any enabled action."""
        actions = [name for name in self.window.actions_.names() if name not in NEVER]
        name = self.random.choice([name for name in actions if self.window.actions_[name].isEnabled()])
        self.say(f"action {name}")
        self.do(self.window.actions_[name].trigger)

    def show_view(self) -> None:
        """Open a view."""
        handle = self.window.study.handle
        if handle is None:
            return
        name = self.random.choice(sorted(views.registry(handle.subject)))
        self.say(f"view {name} of {handle.title}")
        if f"view_{name}" in self.window.actions_.names():  # views have commands once a study has been read
            self.do(self.window.actions_[f"view_{name}"].trigger)

    def _dock(self) -> ViewDock | None:
        area = self.window.study.area
        return self.random.choice(area.docks) if area is not None and area.docks else None

    def change_view(self) -> None:
        """Close, float, maximise or raise a view, or use its menu."""
        dock = self._dock()
        if dock is None:
            return
        what = self.random.choice(("close", "close", "float", "maximise", "front", "raise", "fit", "copy", "text"))
        self.say(f"{what} {dock.view.name}")
        acts: dict[str, Callable[[], object]] = {
            "close": dock.title.close_button.click,
            "float": dock.title.float.click,
            "maximise": dock.title.maximise.click,
            "front": dock.raise_,
            "raise": dock.show,
            "fit": dock.furnish().reset.trigger,
            "copy": dock.furnish().copy_picture.trigger,
            "text": dock.furnish().copy_text.trigger,
        }
        self.do(acts[what])

    def change_option(self) -> None:
        """Change an option of a view in its editor."""
        dock = self._dock()
        if dock is None or not dock.view.all_options:
            return
        option = self.random.choice(dock.view.all_options)
        editors = [
            editor for editor in (*dock.options._inline, *dock.options._all) if editor.option.name == option.name
        ]
        if not editors:
            return
        editor = self.random.choice(editors).editor
        self.say(f"option {option.name} of {dock.view.name}")
        self.do(lambda: self._fill(editor))

    def _fill(self, editor: QWidget) -> None:
        if isinstance(editor, QComboBox) and editor.count():
            editor.setCurrentIndex(self.random.randrange(editor.count()))
        elif isinstance(editor, QCheckBox):
            editor.click()
        elif isinstance(editor, QDoubleSpinBox):
            editor.setValue(self.random.choice((0.0, 0.25, 0.5, 0.7, 1.0)))
        elif isinstance(editor, QLineEdit) and not editor.isReadOnly():
            editor.setText(self.random.choice(WORDS))
            editor.textEdited.emit(editor.text())
            editor.editingFinished.emit()

    def type_somewhere(self) -> None:
        """Type into a visible field."""
        fields = self._found(QLineEdit)
        if not fields:
            return
        field, text = self.random.choice(fields), self.random.choice(WORDS)
        self.say(f"type {text[:20]!r} into {described(field)}")
        if not field.isReadOnly():
            self.do(lambda: (field.setFocus(), field.selectAll()))
            plain = text[:20].encode("ascii", "ignore").decode()  # QTest aborts on any other letter
            self.do(lambda: QTest.keyClicks(field, plain))
            if self.random.random() < 0.7 and isValid(field):
                self.do(lambda: QTest.keyClick(field, Qt.Key.Key_Return))

    def choose_somewhere(self) -> None:
        """Choose another entry of a visible list, tab bar or table."""
        found = [*self._found(QComboBox), *self._found(QTabBar), *self._found(QAbstractItemView)]
        if not found:
            return
        widget = self.random.choice(found)
        self.say(f"choose in {described(widget)}")
        if isinstance(widget, QComboBox):
            self.do(lambda: (self._fill(widget), widget.activated.emit(widget.currentIndex())))
        elif isinstance(widget, QTabBar) and widget.count():
            self.do(lambda: widget.setCurrentIndex(self.random.randrange(widget.count())))
        elif isinstance(widget, QAbstractItemView) and widget.model() is not None and widget.model().rowCount():
            model = widget.model()
            index = model.index(self.random.randrange(model.rowCount()), 0)
            self.do(lambda: widget.setCurrentIndex(index))

    def arrange(self) -> None:
        """Apply an arrangement, or tile all views."""
        area = self.window.study.area
        if area is None:
            return
        name = self.random.choice([*area.arranging.names(), "tile"])
        self.say(f"arrangement {name}")
        self.do(area.tile_all if name == "tile" else lambda: area.apply_arrangement(name))

    def theme(self) -> None:
        """Switch the theme."""
        name = self.random.choice(("theme_system", "theme_light", "theme_dark"))
        self.say(name)
        self.do(self.window.actions_[name].trigger)

    def resize(self) -> None:
        """Resize the window."""
        width, height = self.random.choice(SIZES)
        self.say(f"resize to {width} x {height}")
        self.do(lambda: self.window.resize(width, height))

    def undo(self) -> None:
        """Go back or forth in edits or in selections."""
        names = self.random.choice((("undo",), ("redo",), ("back",), ("forward",), ("undo", "undo", "redo")))
        self.say(" ".join(names))
        for name in names:
            self.do(self.window.actions_[name].trigger)

    def palette(self) -> None:
        """Open the palette, type, and run the first match."""
        self.say("palette")
        self.do(self.window.actions_["palette"].trigger)
        entry = self.window.palette_.entry
        text = self.random.choice(("vi", "trace", "theme", "exp", "mat", "zz", "", "arr", "clo"))
        self.do(lambda: QTest.keyClicks(entry, text))
        self.do(lambda: QTest.keyClick(entry, self.random.choice((Qt.Key.Key_Down, Qt.Key.Key_Up))))
        self.do(lambda: QTest.keyClick(entry, self.random.choice((Qt.Key.Key_Return, Qt.Key.Key_Escape))))

    def export(self) -> None:
        """Open a view's export dialog, change something there and close it."""
        dock = self._dock()
        if dock is None:
            return
        self.say(f"export {dock.view.name}")
        self.do(dock.furnish().export.trigger)
        for _ in range(self.random.randint(0, 3)):
            fields = [*self._found(QComboBox), *self._found(QCheckBox)] if QApplication.activeModalWidget() else []
            if fields:
                field = self.random.choice(fields)
                self.do(lambda field=field: self._fill(field))
            self.do(QCoreApplication.processEvents)
        dialog = QApplication.activeModalWidget()
        if dialog is not None:
            self.do(dialog.close)

    # files

    def open_file(self) -> None:
        """Drop a file onto the window."""
        path = self.random.choice(self.files)
        self.say(f"drop {path.name}")
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path))])
        event = QDropEvent(QPointF(10, 10), Qt.DropAction.CopyAction, data, LEFT, NONE)
        self.do(lambda: self.window.dropEvent(event))

    def close_study(self) -> None:
        """Close the current study or trace."""
        self.say("close study")
        self.do(self.window.actions_["close_study"].trigger)

    def choose_study(self) -> None:
        """Show another open study or trace."""
        keys = sorted(handle.key for handle in self.window.studies)
        if keys:
            key = self.random.choice(keys)
            self.say(f"choose {Path(key).name}")
            self.do(lambda: self.window.selection.select(study=key))
            self.do(self.window.actions_["go_study"].trigger)

    # time

    def collect(self) -> None:
        """Collect garbage, as the window does now and then, and let Qt delete what is due."""
        gc.collect()
        self.do(lambda: QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete))

    def rest(self) -> None:
        """Let other threads finish, so that their results arrive."""
        self.say("rest")
        for pool in (self.window.jobs._quick, self.window.jobs._short):
            pool.waitForDone(300)
        for _ in range(10):
            self.do(QCoreApplication.processEvents)


def described(widget: QObject | None) -> str:
    """Return a report's name for *widget*."""
    if widget is None or not isValid(widget):
        return "nothing"
    names = [type(widget).__name__]
    parent: QObject | None = widget
    while parent is not None and isValid(parent) and not isinstance(parent, ViewDock):
        parent = parent.parent()
    if isinstance(parent, ViewDock):
        names.append(f"in {parent.view.name}")
    said = getattr(widget, "text", None)
    text = said() if callable(said) and isinstance(widget, QAbstractButton | QAction) else ""
    name = getattr(widget, "accessibleName", str)() or text or widget.objectName()
    return " ".join(names + ([f"'{name[:40]}'"] if name else []))
