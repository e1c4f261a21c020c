"""The section on predictions: runs are samples from which larger sizes are predicted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QCheckBox

from scalegraph.gui.request.form import RequestForm
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.sections import Catalog, Section, dress
from scalegraph.gui.request.sizes import with_prediction
from scalegraph.request.model.values import request_value


class PredictSection(Section):
    """Off by default; switching it on shows the fields."""

    def __init__(self, model: RequestModel) -> None:
        super().__init__(model, "Prediction")
        self._programs: Mapping[str, Any] = {}
        self.on = QCheckBox(request_value("predict").label)
        dress(self.on, "predict")
        self.on.clicked.connect(self._switched)
        self.column.addWidget(self.on)
        self.at = self.ask_value("predict.at", "predict")
        self.ask_rest("predict")

    def set_catalog(self, catalog: Catalog) -> None:
        """Take the programs; their methods determine what grows."""
        self._programs = catalog.programs

    def _switched(self, on: bool) -> None:
        """Switch predictions on, proposing sizes where none are given, or off."""
        form, change = self.model.form, "choice of predicting"
        if not on or form.predict_at:
            self.model.edit(change, predict=on)
            return
        found = self._programs.get(form.program)
        self.model.set(with_prediction(form, found.program if found is not None else None).form, change)

    def show_form(self, form: RequestForm) -> None:
        """Show *form*."""
        super().show_form(form)
        self.on.setChecked(form.predict)
        for widget in (*self.fields, *self.editors.values()):
            widget.setVisible(form.predict)
