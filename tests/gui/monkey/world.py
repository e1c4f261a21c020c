"""The world of a random user: a study, measurements and traces in one directory, with no way out of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest.mock import patch

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from scalegraph import machine
from scalegraph.gui import app
from scalegraph.gui.base.garbage import Collector
from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.request import Session
from scalegraph.store import Manifest, SourceText, Study
from tests.analyze import synthetic
from tests.gui.monkey.steps import Monkey
from tests.gui.monkey.watch import Watch

SAMPLES: Final = Path(__file__).parents[3] / "traces"
TRACES: Final = ("billiard-4.sgtrace", "ge2-4.sgtrace", "pipeline.sgtrace")
WORLDS: Final = ("study", "measurements", "traces")  # what the window starts with; everything can be opened later
STALL_S: Final = 0.2
JOIN_MS: Final = 60_000


def write_files(place: Path) -> dict[str, list[Path]]:
    """Write all files into *place*; return them by the kind of world that starts with them."""
    for name in TRACES:
        shutil.copy(SAMPLES / name, place / name)
    (place / "pipeline.c").write_text("".join(f"int line_{number};\n" for number in range(1, 31)))
    return {
        "study": [_study(place / "model.sgstudy"), _study(place / "other.sgstudy", machine_name="cerberus")],
        "measurements": [_times(place / "times.csv"), _calls(place / "calls.txt")],
        "traces": [place / name for name in TRACES],
    }


def _study(path: Path, machine_name: str = "ksr1") -> Path:
    """Write a study of simulated runs over N and sizes, with its source and regions."""
    manifest = Manifest.new(
        title=path.stem,
        program="model",
        machine=machine_name,
        machine_values=machine.load(machine_name).model_dump(mode="json"),
        sources=(SourceText.of("model.c", synthetic.SOURCE, synthetic.SOURCE),),
        regions=synthetic.REGIONS,
    )
    study = Study.create(path, manifest)
    for run in (*synthetic.grid((1, 2, 4, 8, 16, 32), (256, 1024)), synthetic.failed(64)):
        study.add_run(run.model_copy(update={"machine": machine_name}))
    study.close()
    return path


def _times(path: Path) -> Path:
    lines = ["procs,n,time (s)"]
    for n in (1000, 2000, 4000):
        lines += [f"{procs},{n},{n * n * 1e-7 / procs + 1e-3 * procs:.6f}" for procs in (1, 2, 4, 8, 16)]
    path.write_text("\n".join(lines) + "\n")
    return path


def _calls(path: Path) -> Path:
    lines = ["PARAMETER p", "POINTS ( 1 ) ( 2 ) ( 4 ) ( 8 ) ( 16 )", "METRIC time"]
    for name, costs in (("main", (10.0, 6.0, 4.0, 3.2, 3.0)), ("main->solve", (8.0, 4.0, 2.0, 1.0, 0.5))):
        lines += [f"REGION {name}", *(f"DATA {cost} {cost * 1.01}" for cost in costs)]
    path.write_text("\n".join(lines) + "\n")
    return path


@contextmanager
def no_way_out(place: Path, seed: int) -> Iterator[None]:
    """Confine everything to *place*: file dialogs are answered or cancelled at once, no other program is started."""
    random = Random(seed)

    def one(*_args: Any, **_more: Any) -> tuple[str, str]:
        return random.choice((("", ""), (str(place / f"saved-{random.randrange(9)}"), "")))

    def several(*_args: Any, **_more: Any) -> tuple[list[str], str]:
        return [], ""

    with ExitStack() as stack:
        for name in ("getSaveFileName", "getOpenFileName"):
            stack.enter_context(patch.object(QFileDialog, name, one))
        stack.enter_context(patch.object(QFileDialog, "getOpenFileNames", several))
        stack.enter_context(patch.object(QFileDialog, "getExistingDirectory", lambda *_args, **_more: ""))
        stack.enter_context(patch.object(QDesktopServices, "openUrl", lambda *_args: True))
        kept = {"XDG_DATA_HOME": "data", "XDG_STATE_HOME": "state", "XDG_DOCUMENTS_DIR": "documents"}
        stack.enter_context(patch.dict(os.environ, {key: str(place / name) for key, name in kept.items()}))
        yield


def play(
    place: Path,
    session: Session,
    world: str,
    seed: int,
    steps: int,
    *,
    limit_s: float = STALL_S,
    log: Callable[[str], None] = lambda _step: None,
) -> tuple[Watch, Monkey]:
    """Open a window on *world*, let a random user with *seed* do *steps* steps, close it; return the failures."""
    files = write_files(place)
    app.make_application()
    watch = Watch(limit_s)
    with no_way_out(place, seed), watch.watching():
        window = app.make_window(session, place / "window.ini")
        try:
            window.show()
            settle(window)
            window.open_files(files[world])
            settle(window)
            if world == "measurements" and window.page == "import":
                window.imports.page.accept()
                settle(window)
            monkey = Monkey(window, watch, seed, [path for kind in files.values() for path in kind])
            monkey.log = log
            monkey.run(steps)
            watch.step = "the end"
        finally:
            end(window)
    return watch, monkey


def settle(window: MainWindow) -> None:
    """Let all work in other threads finish, with its consequences."""
    for _ in range(1000):
        QCoreApplication.processEvents()
        if not window.jobs.running and not len(turn_queue()):
            return
        window.jobs.join(50)


def end(window: MainWindow) -> None:
    """Close *window* and delete it."""
    window.jobs.cancel_all()
    window.close()
    settle(window)
    window.close()
    assert window.jobs.join(JOIN_MS)
    window.deleteLater()
    for _ in range(3):
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    collector = app.make_application().property("collector")
    if isinstance(collector, Collector):
        collector.collect_all()  # so that the next window does not pay for this one
