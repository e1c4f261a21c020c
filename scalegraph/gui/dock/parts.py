"""The content of a view's dock: options, title, picture and actions; built when first shown."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QDockWidget, QMenu

from scalegraph.figures import render
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.dock.content_holder import ContentHolder
from scalegraph.gui.dock.figure_widget import FigureWidget
from scalegraph.gui.dock.tab_names import least_name, numbered, tab_name
from scalegraph.gui.dock.view_options import OptionBar
from scalegraph.gui.dock.view_title import ViewTitle
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.handle import Handle
from scalegraph.gui.trace.link import TraceLink
from scalegraph.gui.trace.options import SHARED
from scalegraph.views import View


class Parts:
    """The content of *dock*. Building and styling it takes a while, so a dock behind a tab has none yet."""

    def __init__(
        self,
        dock: QDockWidget,
        view: View,
        handle: Handle,
        context: Context,
        link: TraceLink | None,
    ) -> None:
        self.options = OptionBar(view, shared=SHARED if handle.subject == "trace" else ())
        self.title = ViewTitle(view.title, handle.title, self.options, context.theme, least_name(view))
        self.picture = FigureWidget(context, handle.key, with_title=False, link=link)
        self.picture.links.place_chosen.connect(tied(self.picture, lambda: context.source_wanted.emit(dock)))
        self.holder = ContentHolder(self.picture)
        self.copy_picture = QAction("Copy picture", dock)
        self.copy_picture.setShortcut(QKeySequence("Ctrl+Shift+C"))
        self.copy_picture.triggered.connect(self._copy_picture)
        self.copy_text = QAction("Copy numbers as text", dock)
        self.copy_text.triggered.connect(lambda: self._copy_content("csv"))
        self.copy_latex = QAction("Copy as LaTeX", dock)
        self.copy_latex.triggered.connect(lambda: self._copy_content("tex"))
        self.reset = QAction("Reset zoom\tF", dock)
        self.reset.triggered.connect(self.picture.fit)
        self.export = QAction("Export …\tCtrl+E", dock)  # shows the window's shortcut, which exports the current view
        for action in (self.copy_picture, self.copy_text, self.copy_latex):
            self.picture.addAction(action)
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)

    def show_title(self, view: View, number: int) -> None:
        """Show in the title that the *number*-th dock of *view* is here."""
        self.title.show_view(numbered(view.title, number), tab_name(view, number))

    def make_menu(self, dock: QDockWidget, offer_others: Callable[[QMenu], None] | None) -> None:
        """Add a menu to the title; *offer_others* adds the studies to compare with."""
        menu = QMenu(dock)
        menu.addActions([self.export, self.copy_picture, self.copy_text, self.copy_latex])
        menu.addSeparator()
        menu.addAction(self.reset)
        if offer_others is not None:
            compared = menu.addMenu("Compare with")
            compared.aboutToShow.connect(lambda: offer_others(compared))
        self.title.set_menu(menu)

    def enable(self) -> None:
        """Enable the actions that the current figure supports."""
        figure = self.picture.figure
        there = figure is not None and bool(figure.panels)
        for item in (self.copy_picture, self.copy_text, self.copy_latex, self.export):
            item.setEnabled(there)
        self.title.export.setEnabled(there)
        self.reset.setVisible(self.picture.can_zoom())

    def _copy_picture(self) -> None:
        QGuiApplication.clipboard().setPixmap(self.picture.grab())

    def _copy_content(self, ending: str) -> None:
        figure = self.picture.figure
        if figure is not None:
            QGuiApplication.clipboard().setText(render.content(figure, ending).decode())
