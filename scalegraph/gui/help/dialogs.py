"""The dialogs of the Help menu: About, glossary, tutorial, problem report."""

from __future__ import annotations

from html import escape
from typing import Final

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QTabWidget,
    QTextBrowser,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

import scalegraph
from scalegraph.base import glossary
from scalegraph.base.resources import resource_dir
from scalegraph.gui.base.widgets import button, label
from scalegraph.gui.help import versions

_DOCUMENTATION: Final = "https://github.com/scalegraph/scalegraph/tree/main/docs"  # default


class Paper(QDialog):
    """A dialog with a column of content and a row of buttons that ends in Close."""

    def __init__(self, title: str, size: tuple[int, int], parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.column = QVBoxLayout(self)
        self.row = QHBoxLayout()
        self.row.addStretch(1)
        close = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close.rejected.connect(self.reject)
        self.row.addWidget(close)
        self.resize(*size)

    def offer_copy(self) -> None:
        """Add a button before Close that copies `copied`."""
        copy = button("Copy", "Copy the text to the clipboard")
        copy.clicked.connect(self._copy)
        self.row.insertWidget(0, copy)

    def copied(self) -> str:
        """Return the text that the button copies."""
        return ""

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.copied())


class AboutDialog(Paper):
    """Version, components with versions and licences, and the licence text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("About ScaleGraph", (620, 480), parent)
        self.column.addWidget(label(f"ScaleGraph {scalegraph.__version__}", "title"))
        self.column.addWidget(
            label("How far does a parallel program scale, what stops it, and what would change that?", wrap=True)
        )
        tabs = QTabWidget()
        self.parts = QTreeWidget()
        self.parts.setHeaderLabels(["Part", "Version", "Licence"])
        self.parts.setRootIsDecorated(False)
        self.parts.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self._rows = versions.versions()
        for row in self._rows:
            self.parts.addTopLevelItem(QTreeWidgetItem(list(row)))
        self.licence = QPlainTextEdit(versions.licence_text())
        self.licence.setReadOnly(True)
        tabs.addTab(self.parts, "Versions")
        tabs.addTab(self.licence, "Licence")
        self.column.addWidget(tabs, 1)
        self.column.addLayout(self.row)
        self.offer_copy()

    def copied(self) -> str:
        """Return the versions as text."""
        return "\n".join(
            [versions.system(), *(f"{name} {version} ({licence})" for name, version, licence in self._rows)]
        )


class ReportDialog(Paper):
    """A template for a problem report."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Report a problem", (620, 460), parent)
        self.column.addWidget(
            label(
                "Fill in the three questions, copy the text, and send it with the study or program if you may.",
                wrap=True,
            )
        )
        self.text = QPlainTextEdit(versions.report())
        self.text.setAccessibleName("Problem report")
        self.column.addWidget(self.text, 1)
        self.column.addLayout(self.row)
        self.offer_copy()

    def copied(self) -> str:
        """Return the text, including what the user filled in."""
        return self.text.toPlainText()


class GlossaryDialog(Paper):
    """All metrics and terms, with a search; the same as `scalegraph explain` prints."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Glossary", (820, 520), parent)
        self.entry = QLineEdit()
        self.entry.setPlaceholderText("Search metrics and terms")
        self.entry.setAccessibleName("Search")
        self.entry.setClearButtonEnabled(True)
        self.list = QListWidget()
        self.list.setAccessibleName("Terms")
        self.page = QTextBrowser()
        self.page.setAccessibleName("Term")
        self.column.addWidget(self.entry)
        row = QHBoxLayout()
        row.addWidget(self.list, 1)
        row.addWidget(self.page, 2)
        self.column.addLayout(row, 1)
        self.column.addLayout(self.row)
        self.entry.textChanged.connect(self._fill)
        self.list.currentRowChanged.connect(self._show)
        self._found: list[glossary.Term] = []
        self._fill("")

    def _fill(self, typed: str) -> None:
        found = glossary.search(typed)
        self._found = found if typed.strip() else sorted(found, key=lambda term: term.title.lower())
        self.list.clear()
        self.list.addItems([term.title for term in self._found])
        self.list.setCurrentRow(0 if self._found else -1)
        if not self._found:
            self.page.setPlainText("No term contains these words.")

    def _show(self, row: int) -> None:
        if not 0 <= row < len(self._found):
            return
        term = self._found[row]
        facts = "".join(
            f"<tr><td style='padding-right:14px'><b>{escape(what)}</b></td><td>{escape(value)}</td></tr>"
            for what, value in term.facts()
        )
        self.page.setHtml(
            f"<h3>{escape(term.title)}</h3><p>{escape(term.meaning)}</p><p><i>{escape(term.intuition)}</i></p>"
            f"<table cellpadding='2'>{facts}</table>"
        )


class TutorialDialog(Paper):
    """The tutorial from the installed package; works without a network."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Tutorial", (820, 560), parent)
        self.page = QTextBrowser()
        self.page.setOpenExternalLinks(True)
        self.page.setMarkdown((resource_dir("help") / "TUTORIAL.md").read_text(encoding="utf-8"))
        self.column.addWidget(self.page, 1)
        self.column.addLayout(self.row)


def open_documentation() -> None:
    """Open the documentation in the browser."""
    QDesktopServices.openUrl(QUrl(versions.documentation() or _DOCUMENTATION))
