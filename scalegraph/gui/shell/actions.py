"""The window's actions, declared as data for menus, toolbar, command palette and shortcut sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QToolBar, QWidget

from scalegraph.gui.base.icons import icon
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.commands.synonyms import SYNONYMS
from scalegraph.gui.dock.arrangements import NAMES, TRACE_ARRANGEMENTS
from scalegraph.gui.shell.command_palette import CALLED, FOUND_BY, words


@dataclass(frozen=True)
class Spec:
    """One action: its *name* in the code, *text* for display, menu (``View/Theme`` is a submenu), keys.

    Without a menu it is in the palette only.
    """

    name: str
    text: str
    menu: str
    keys: tuple[str, ...] = ()
    icon: str = ""
    checkable: bool = False
    group: str = ""  # exclusive group it belongs to
    hint: str = ""  # keys handled by the views when focused, only displayed here
    apart: bool = False  # a separator precedes it
    called: str = ""  # name in the palette and tooltips if *text* is unclear there; empty: as in the menu
    also: str = ""  # a phrase by which the palette finds it, besides its synonyms


MENUS: Final = ("File", "Edit", "View", "Go", "Run", "Trace", "Window", "Help")
SEPARATOR: Final = "-"
_ARRANGEMENTS: Final = "View/Arrangements"
_THEME: Final = "View/Theme"

ARRANGEMENT_NAMES: Final = NAMES

SPECS: Final = (
    Spec("new_request", "&Run a program…", "File", ("Ctrl+N",), "new"),
    Spec("measure_command", "&Measure a command…", "File", ("Ctrl+Shift+N",), "new"),
    Spec("open", "&Open…", "File", ("Ctrl+O",), "open", apart=True),
    Spec("open_measurements", "Open &measurements…", "File", ("Ctrl+Shift+O",), "open"),
    Spec("open_directory", "Open a &directory of measurements…", "File", ("Ctrl+Alt+O",)),
    Spec("open_trace", "Open a &trace…", "File", ("Ctrl+Alt+T",)),
    Spec("save_request", "&Save request…", "File", ("Ctrl+S",), "save", apart=True),
    Spec("save_study", "Save study &as…", "File", ("Ctrl+Shift+S",)),
    Spec("export_view", "E&xport image or data…", "File", ("Ctrl+E",), "export", apart=True),
    Spec("write_report", "Write re&port…", "File", ("Ctrl+P",)),
    Spec("reveal_study", "Show study in the &file manager", "File"),
    Spec("close_study", "&Close study or trace", "File", ("Ctrl+W",), "close", apart=True),
    Spec("quit", "&Quit", "File", ("Ctrl+Q",), apart=True),
    Spec("undo", "&Undo", "Edit", ("Ctrl+Z",), "undo"),
    Spec("redo", "&Redo", "Edit", ("Ctrl+Shift+Z", "Ctrl+Y"), "redo"),
    Spec("paste_table", "Paste a &table or files", "Edit", ("Ctrl+V",)),
    Spec("copy_view", "Co&py image of the view", "Edit", hint="Ctrl+Shift+C", apart=True),
    Spec("clear_selection", "&Clear selection", "Edit", ("Esc",)),
    Spec("change_meaning", "Edit import &mapping…", "Edit", ("Ctrl+M",), apart=True),
    Spec("preferences", "Pr&eferences…", "Edit", ("Ctrl+,",), apart=True),
    Spec("start_request", "&Start the request, open the measurements", "Run", ("Ctrl+Return", "Ctrl+Enter"), "run"),
    Spec("cancel_all", "&Cancel all runs", "Run", ("Ctrl+.",), "stop"),
    Spec("clear_finished", "Clear &finished requests", "Run"),
    Spec("edit_request", "&Edit the request of this study", "Run", ("Ctrl+Shift+R",), apart=True),
    Spec("predict_larger", "&Predict larger runs…", "Run"),
    Spec("instrumentation", "Show &instrumentation", "Run", ("Ctrl+I",), "code"),
    Spec("open_demo", "Open the &demonstration", "Run", apart=True),
    Spec("compute_demo", "Compute the demonstration &anew", "Run"),
    *(
        Spec(f"arrange_{name}", name, _ARRANGEMENTS, (str(number),), called=f"Arrange: {name}")
        for names in (ARRANGEMENT_NAMES, TRACE_ARRANGEMENTS)  # for the current study or trace; they share the keys
        for number, name in enumerate(names, 1)
    ),
    Spec("save_arrangement", "&Save as…", _ARRANGEMENTS, called="Save arrangement as…"),
    Spec("manage_arrangements", "&Manage…", _ARRANGEMENTS, called="Manage arrangements…"),
    Spec("tile_views", "Ti&le all views", "View"),
    Spec("reset_zoom", "Reset &zoom of the view", "View"),
    Spec("toggle_navigator", "&Navigator", "View", ("Ctrl+1",), "navigator", checkable=True, apart=True),
    Spec("toggle_inspector", "&Inspector", "View", ("Ctrl+2",), "inspector", checkable=True),
    Spec("toggle_queue", "&Queue", "View", ("Ctrl+3",), "queue", checkable=True),
    Spec("toggle_whatif", "&What if", "View", ("Ctrl+4",), "whatif", checkable=True),
    Spec("theme_system", "System theme", _THEME, checkable=True, group="theme"),
    Spec("theme_light", "Light theme", _THEME, checkable=True, group="theme"),
    Spec("theme_dark", "Dark theme", _THEME, checkable=True, group="theme"),
    Spec("full_screen", "&Full screen", "View", ("F11",), checkable=True, apart=True),
    Spec("trace_play", "&Play or pause the replay", "Trace", icon="run", hint="Space"),
    Spec("trace_step_on", "Replay: to the &next change", "Trace", icon="step_on", hint="."),
    Spec("trace_step_back", "Replay: to the &previous change", "Trace", icon="step_back", hint=","),
    Spec("trace_loop", "Replay in a l&oop, or not", "Trace", icon="loop", hint="L"),
    Spec("trace_end_replay", "&End the replay", "Trace"),
    Spec("trace_bookmark", "Set a &bookmark", "Trace", icon="bookmark", hint="B", apart=True),
    Spec("trace_bookmarks", "Book&marks…", "Trace", hint="Shift+B"),
    Spec("trace_next_bookmark", "Go to the next bookmark", "Trace"),
    Spec("trace_last_bookmark", "Go to the previous bookmark", "Trace"),
    Spec("trace_next_event", "Go to the next e&vent out of sight", "Trace", hint="N", apart=True),
    Spec("trace_last_event", "Go to the previous event out of sight", "Trace", hint="P"),
    Spec("trace_next_event_there", "Next event of the selected location", "Trace", hint="Shift+N"),
    Spec("trace_last_event_there", "Previous event of the selected location", "Trace", hint="Shift+P"),
    Spec("trace_cursor", "Set a measuring &cursor", "Trace", hint="C", apart=True),
    Spec("trace_no_cursors", "Clear c&ursors", "Trace", hint="Shift+C"),
    Spec("trace_between", "&Select between the cursors", "Trace", hint="Shift+Z"),
    Spec("trace_whole", "Show the &whole run", "Trace", hint="F"),
    Spec("back", "&Back", "Go", ("Alt+Left",), "back"),
    Spec("forward", "&Forward", "Go", ("Alt+Right",), "forward"),
    Spec("go_start", "&Start page", "Go", ("Alt+Home",), "home", apart=True),
    Spec("go_request", "&Request", "Go", ("Ctrl+R",)),
    Spec("go_study", "S&tudy", "Go", ("Ctrl+T",)),
    Spec("search", "Sear&ch", "Go", ("/", "Ctrl+F"), "search", apart=True),
    Spec("find_next", "&Next occurrence in the trace", "Go", ("F3",)),
    Spec("find_before", "&Previous occurrence in the trace", "Go", ("Shift+F3",)),
    Spec("new_window", "&New window of this session", "Window", ("Ctrl+Alt+N",)),
    Spec("float_view", "&Float the view in use, or put it back", "Window", ("Ctrl+Shift+F",)),
    Spec("palette", "&Commands…", "Help", ("Ctrl+K",), "command"),
    Spec("tutorial", "&Tutorial", "Help", apart=True),
    Spec("glossary", "&Glossary", "Help", ("Shift+F1",)),
    Spec("shortcuts", "&Keyboard shortcuts", "Help", ("?", "F1")),
    Spec("documentation", "&Documentation on the web", "Help"),
    Spec("report_problem", "&Report a problem…", "Help", apart=True),
    Spec("about", "&About ScaleGraph", "Help", apart=True),
)
_TOOLS: Final = (
    "go_start",
    "new_request",
    "open",
    SEPARATOR,
    "back",
    "forward",
    SEPARATOR,
    "undo",
    "redo",
    SEPARATOR,
    "start_request",
    "cancel_all",
)
_LOW, _AROUND = 28, 12  # least height of the menu row in pixels; space around its text
_TOOLS_RIGHT: Final = ("palette", "toggle_navigator", "toggle_queue", "toggle_inspector", "toggle_whatif")


class Actions:
    """Holds the window's actions by name."""

    def __init__(self, window: QMainWindow, theme: Theme) -> None:
        self._window, self._theme = window, theme
        self._made: dict[str, QAction] = {}
        self._icons: dict[str, str] = {}
        self.menus: dict[str, QMenu] = {}
        self._lines: dict[str, QAction] = {}  # separators, by the action below
        self._groups: dict[str, QActionGroup] = {}
        for title in MENUS:
            menu = QMenu(f"&{title}", window)
            window.menuBar().addMenu(menu)
            self.menus[title] = menu
        for spec in SPECS:
            self.add(spec)
        self.toolbar = self._tools()
        self.dress()
        theme.changed.connect(tied(window, lambda _name: self.dress()))

    def __getitem__(self, name: str) -> QAction:
        return self._made[name]

    def add(self, spec: Spec) -> QAction:
        """Add one action to its menu, the palette and the shortcut sheet."""
        # after the tab: displayed like a shortcut in menus, but handled by the views
        action = QAction(f"{spec.text}\t{spec.hint}" if spec.hint else spec.text, self._window)
        action.setShortcuts([QKeySequence(keys) for keys in spec.keys])
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        action.setCheckable(spec.checkable)
        action.setProperty(CALLED, spec.called)
        action.setProperty(FOUND_BY, [*SYNONYMS.get(spec.name, ()), *((spec.also,) if spec.also else ())])
        plain = words(action)
        keys = spec.keys[0] if spec.keys else spec.hint
        action.setToolTip(f"{plain} ({keys})" if keys else plain)
        if spec.group:
            group = self._groups.setdefault(spec.group, QActionGroup(self._window))
            group.addAction(action)
        if spec.menu:
            menu = self._menu(spec.menu)
            if spec.apart:
                self._lines[spec.name] = menu.addSeparator()
            menu.addAction(action)
        self._window.addAction(action)  # so that keys work while the menu bar is hidden
        self._made[spec.name] = action
        self._icons[spec.name] = spec.icon
        return action

    def remove(self, name: str) -> None:
        """Remove an action from its menu, the palette and the shortcut sheet."""
        action = self._made.pop(name)
        self._icons.pop(name)
        for menu in self.menus.values():
            menu.removeAction(action)
        self._window.removeAction(action)
        action.deleteLater()

    def _menu(self, path: str) -> QMenu:
        """Return a menu. Submenus are created on first use; those of views go above the panels' entries."""
        if path not in self.menus:
            top, _, title = path.partition("/")
            made = QMenu(title, self._window)
            made.setToolTipsVisible(True)
            below = self._lines.get("toggle_navigator")
            if below is not None and path not in (_THEME, _ARRANGEMENTS):
                self.menus[top].insertMenu(below, made)
            else:
                self.menus[top].addMenu(made)
            self.menus[path] = made
        return self.menus[path]

    def show_filled(self) -> None:
        """Hide submenus without an enabled action."""
        for path, menu in self.menus.items():
            if "/" in path:
                menu.menuAction().setVisible(any(action.isEnabled() for action in menu.actions()))

    def names(self) -> list[str]:
        """Return the names of all actions."""
        return list(self._made)

    def all(self) -> list[QAction]:
        """Return all actions in menu order."""
        return list(self._made.values())

    def by_menu(self) -> dict[str, Sequence[QAction]]:
        """Return the actions by menu."""
        found: dict[str, Sequence[QAction]] = {}
        for title in MENUS:
            under = [a for path, menu in self.menus.items() if path.partition("/")[0] == title for a in menu.actions()]
            found[title] = [action for action in self._made.values() if action in under]
        return found

    def dress(self) -> None:
        """Draw the icons in the theme's colours."""
        paper = self._theme.paper
        for name, which in self._icons.items():
            if which:
                self._made[name].setIcon(icon(which, paper.text, paper.line))

    def _tools(self) -> QToolBar:
        bar = QToolBar("Tools", self._window)
        bar.setObjectName("tools")
        bar.setMovable(False)
        bar.setIconSize(QSize(18, 18))
        for name in _TOOLS:
            if name == SEPARATOR:
                bar.addSeparator()
            else:
                bar.addAction(self._made[name])
        spacer = QWidget()
        spacer.setSizePolicy(spacer.sizePolicy().Policy.Expanding, spacer.sizePolicy().Policy.Preferred)
        bar.addWidget(spacer)
        for name in _TOOLS_RIGHT:
            bar.addAction(self._made[name])
        menus = self._window.menuBar()
        if menus.isNativeMenuBar():  # the desktop shows the menus outside the window
            self._window.addToolBar(bar)
        else:  # menus and tools share a row
            height = max(_LOW, menus.fontMetrics().height() + _AROUND)
            bar.setFixedHeight(height)
            menus.setFixedHeight(height)
            menus.setCornerWidget(bar, Qt.Corner.TopRightCorner)
        return bar
