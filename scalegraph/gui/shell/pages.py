"""The window's pages, of which one is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QStackedWidget, QWidget

if TYPE_CHECKING:
    from collections.abc import Callable

    from scalegraph.gui.shell.main_window import MainWindow

START: Final = "start"
REQUEST: Final = "request"
STUDY: Final = "study"
INSTRUMENT: Final = "instrument"
IMPORT: Final = "import"
MEASURE: Final = "measure"
_FROM: Final = {INSTRUMENT: REQUEST}  # subpages and the page they belong to
LEFT: Final = frozenset({REQUEST, MEASURE, IMPORT, INSTRUMENT})  # pages that Escape and Back leave


class WayBack:
    """Remembers, for each page of `LEFT`, the page it was opened from."""

    def __init__(self) -> None:
        self._entered: dict[str, str] = {}

    def went(self, before: str, page: str) -> None:
        """Record that *page* was opened from the page *before*."""
        if page in LEFT and before != page and (before not in LEFT or page not in self._entered):
            self._entered[page] = before

    def before(self, page: str) -> str:
        """Return the page to go to when *page* is left."""
        return _FROM.get(page) or self._entered.get(page, START)


class Pages(QStackedWidget):
    """Shows a page by its name, and messages on it."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__()
        self._window = window
        self._way_back = WayBack()
        self._pages: dict[str, QWidget] = {}

    @property
    def current(self) -> str:
        """Name of the current page."""
        return next(name for name, page in self._pages.items() if page is self.currentWidget())

    def add(self, name: str, page: QWidget) -> None:
        """Take a page that `go` can show."""
        self._pages[name] = page
        self.addWidget(page)

    def go(self, page: str, *, new: bool = False) -> None:
        """Show a page, with a *new* request; the study page without a study is the start page."""
        window = self._window
        if new:
            window.request.begin_new()
        if page == STUDY and not len(window.studies):
            page = START
        window.late.make(page)
        self._way_back.went(self.current, page)
        self.setCurrentWidget(self._pages[page])
        window.panels.show_page(page)
        window.offered.update()

    def leave(self) -> None:
        """Go back to the page from which the current one was opened."""
        self.go(self._way_back.before(self.current))

    def escape(self) -> None:
        """Leave a page that was opened from another one; on others clear the selection."""
        if self.current == IMPORT:
            self._window.imports.page.leave()
        elif self.current in LEFT:
            self.leave()
        else:
            self._window.selection.clear()

    def back(self) -> None:
        """Leave a page that was opened from another one; on others go to the previous selection."""
        self.escape() if self.current in LEFT else self._window.selection.back()

    def act(self, act: Callable[[], object]) -> None:
        """Run a command of the user; earlier errors are cleared first."""
        self._pages[self.current].banner.clear_fault()  # type: ignore[attr-defined]
        act()

    def say_fault(self, text: str) -> None:
        """Show an error on the current page."""
        self._pages[self.current].banner.show_fault(text)  # type: ignore[attr-defined]

    def forget_messages(self) -> None:
        """Clear messages of earlier actions, before a new one starts."""
        for page in self._pages.values():
            page.banner.clear()  # type: ignore[attr-defined]
        self._window.statusBar().clearMessage()
