"""The second column of the navigator's trees: as wide as its heading and numbers in any font."""

from __future__ import annotations

from typing import Final

from PySide6.QtWidgets import QHeaderView, QTreeView

from scalegraph.gui.base.lifetime import tied

_LEAST: Final = 78
_AROUND: Final = 16  # pixels of margin around a number
_WIDEST: Final = "100.0 %"


def fit_value_column(tree: QTreeView) -> None:
    """Fit the second column of *tree* to its heading and numbers; the first takes the rest."""
    header = tree.header()
    header.setStretchLastSection(False)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    header.setSectionResizeMode(1, QHeaderView.ResizeMode.Fixed)

    def fit() -> None:
        head = header.sectionSizeHint(1) + 2
        wanted = max(_LEAST, head, tree.fontMetrics().horizontalAdvance(_WIDEST) + _AROUND)
        if header.sectionSize(1) != wanted:
            header.resizeSection(1, wanted)

    header.geometriesChanged.connect(tied(header, fit))  # the header dies before the tree
    tree.model().headerDataChanged.connect(tied(header, lambda *_: fit()))
    fit()
