"""From the request panel to the comparison: a program is simulated, measured on this computer, and both are viewed."""

from pathlib import Path

import pytest
from PySide6.QtCore import QThreadPool
from pytestqt.qtbot import QtBot

from scalegraph import views
from scalegraph.gui.base.jobs import Jobs, Latest
from scalegraph.gui.request.destination import TargetSection
from scalegraph.gui.request.form import RequestForm, of_request, read
from scalegraph.gui.request.model import RequestModel
from scalegraph.request import Session
from scalegraph.request.model.request import Request

PROGRAM = """
#include <stdio.h>
static double sum(int n) { double s = 0; for (int i = 0; i < n; i++) s += i; return s; }
int main(void) { printf("%g\\n", sum(1000000)); return 0; }
"""


@pytest.fixture
def section(qtbot: QtBot) -> TargetSection:
    model = RequestModel()
    made = TargetSection(model)
    made.set_test(Latest(Jobs(made), "test", made))
    qtbot.addWidget(made)
    model.changed.connect(made.show_form)
    model.edit("program", sources=("p.c",))
    return made


def test_the_picker_offers_every_target_and_says_what_it_measures(section: TargetSection, qtbot: QtBot) -> None:
    section.show()
    assert section.choice.findData("host") >= 0
    assert not section.until.isVisible()  # the simulator needs no repetitions
    section.model.edit("target", target="host")
    assert section.until.isVisible()
    assert "elapsed time" in section.measures.text()
    section.test.click()
    qtbot.waitUntil(lambda: section.test.isEnabled())
    assert "processor" in section.found.text() or "compiler" in section.found.text()
    QThreadPool.globalInstance().waitForDone()


def test_what_is_typed_becomes_the_request_and_comes_back(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM, encoding="utf-8")
    form = RequestForm(
        sources=("p.c",), directory=str(tmp_path), target="host", until="2 %", pin="spread", warm_up="0", processors="1"
    )
    request, faults = read(form)
    assert faults == []
    assert request is not None
    assert request.target.model_dump(exclude_defaults=True) == {
        "name": "host", "until": 2.0, "pin": "spread", "warm_up": 0,
    }  # fmt: skip
    again = of_request(request)
    assert (again.target, again.until, again.pin, again.warm_up) == ("host", "2 %", "spread", "0")
    assert Request.model_validate(request.model_dump(mode="json")) == request


def test_a_program_that_was_simulated_and_measured_is_compared(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM, encoding="utf-8")
    path = tmp_path / "s.sgstudy"
    for target in ("simulated", "host"):
        form = RequestForm(
            sources=("p.c",), directory=str(tmp_path), target=target, warm_up="0", processors="1", machine="ksr1"
        )
        request, faults = read(form)
        assert request is not None
        assert faults == []
        Session().submit(request, path).close()
    data = Session().study_data(path)
    for name in ("simulated-measured", "model-misses", "noise"):
        figure = views.get(name).build(data)
        assert not figure.empty, figure.empty
        assert figure.sentence
