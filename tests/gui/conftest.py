"""A window whose session fakes the runs; check, plan, store, analysis and views are real."""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtWidgets", reason="the window needs Qt and its libraries", exc_type=ImportError)

from PySide6.QtCore import QCoreApplication, QEvent, QThreadPool
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from scalegraph import machine
from scalegraph.base import events
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError
from scalegraph.base.run import Region, RegionCost, RunPoint, RunRecord
from scalegraph.cli import collecting
from scalegraph.gui import app
from scalegraph.gui.base.garbage import Collector
from scalegraph.gui.base.tips import Application
from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.request import Session
from scalegraph.request.consent import approved
from scalegraph.request.model.resolve import resolved
from scalegraph.runtime.format import CATEGORY_GROUPS, GROUPS
from scalegraph.store import Manifest, SourceText, Study

PATIENCE_MS = 60_000  # a condition that is immediate on an idle machine may take long on a busy one
RUNS_MS = 240_000  # .. and longer if it builds and runs something
CLOCK = 20e6
REGIONS = (
    Region(id=0, kind="program", name="program"),
    Region(id=1, kind="function", name="main", file="model.c", line=1, end_line=9, parent=0),
    Region(id=2, kind="barrier", name="barrier", file="model.c", line=5, end_line=5, parent=1),
)


class PatientBot(QtBot):
    """Waits for conditions and signals as long as a busy machine may need, yet still fails in the end."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE_MS) -> None:
        """Qt's name: wait until *callback* holds and the window's turn queue is empty."""

        def there() -> bool:
            said = callback()
            return (said is None or bool(said)) and not len(turn_queue())

        super().waitUntil(there, timeout=timeout)

    def waitSignal(self, signal: Any, *, timeout: int = PATIENCE_MS, **options: Any) -> Any:
        """Qt's name: wait for *signal* at the end of the block."""
        return super().waitSignal(signal, timeout=timeout, **options)


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    """The application of all tests is one like the user's."""
    return Application


@pytest.fixture
def qtbot(qapp: Any, request: pytest.FixtureRequest) -> QtBot:
    """Drive widgets with generous timeouts."""
    return PatientBot(request)


@pytest.fixture(autouse=True)
def _garbage(qapp: QApplication) -> Iterator[None]:
    """As in the application: no other thread collects garbage, which may include widgets of earlier tests.

    Qt holds a lock while it destroys them and waits for Python's; the window's thread may hold that and wait for Qt's.
    """
    assert qapp is not None
    collecting.as_usual()
    collector = Collector()
    yield
    collector.collect()
    collector.end()
    collecting.seldom()


def record(point: RunPoint, **changes: Any) -> RunRecord:
    """Return a fake run with an exact accounting identity: 64000 cycles of work, a barrier that grows with N."""
    n = point.processors
    work, barrier = 64_000, 0 if n == 1 else 400 * n
    categories = {"busy_int": work, "idle_barrier": barrier * n, "prim_barrier": 40 * n if n > 1 else 0}
    cycles = (sum(categories.values()) + n - 1) // n
    categories["stall_local"] = cycles * n - sum(categories.values())
    groups = {g: sum(v for k, v in categories.items() if CATEGORY_GROUPS[k] == g) / CLOCK for g in GROUPS}
    one = RegionCost(
        region=1, categories={k: v for k, v in categories.items() if "barrier" not in k}, busy_max=work // n
    )
    two = RegionCost(region=2, categories={k: v for k, v in categories.items() if "barrier" in k})
    values: dict[str, Any] = {
        "source": "simulated",
        "program": "model",
        "machine": "ksr1",
        "point": point,
        "time_s": cycles / CLOCK,
        "time_cycles": cycles,
        "clock_hz": CLOCK,
        "work_ops": work,
        **{f"{group}_s": value for group, value in groups.items()},
        "references": 1000 * n,
        "misses": 10 * n,
        "host_s": 0.01,
        "categories": categories,
        "regions": (one, two),
    }
    return RunRecord(**(values | changes))


class ModelSession(Session):
    """Takes its runs from `record`. *gate* holds each run until the test opens it; *fails* are the N that fail."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Semaphore(10_000)
        self.fails: dict[int, str] = {}
        self.build_error = ""
        self.submitted: list[Any] = []
        self.threads: set[int] = set()

    def hold(self) -> None:
        """Hold all runs until `let`."""
        self.gate = threading.Semaphore(0)

    def let(self, runs: int) -> None:
        """Let *runs* more runs finish."""
        self.gate.release(runs)

    def submit(
        self, request: Any, study_path: Any, emit: Any = events.ignore, cancel: Any = None, **more: Any
    ) -> Study:
        approved(resolved(request), more.get("consent"))
        self.submitted.append(request)
        self.threads.add(threading.get_ident())
        cancel = cancel or CancelToken()
        points = self.plan(request).points
        if self.build_error:
            emit(events.Done(0, 0, messages=("model.c does not compile",)))
            raise BuildError("model.c does not compile", self.build_error)
        study = _study(Path(study_path), request)
        emit(events.Planned(points, 1.0))
        done = failed = 0
        for point in points:
            if study.has(point.key):
                done += 1
                emit(events.RunSkipped(point, done + failed, len(points)))
                continue
            emit(events.RunStarted(point))
            while not self.gate.acquire(timeout=0.01):
                if cancel.cancelled:
                    break
            if cancel.cancelled:
                break
            message = self.fails.get(point.processors, "")
            made = record(point, **({"status": "crashed", "message": message, "stdout": "so far"} if message else {}))
            study.add_run(made)
            if message:
                failed += 1
                emit(events.RunFailed(point, message, made, done + failed, len(points), 0.5))
            else:
                done += 1
                emit(events.RunFinished(point, made, done + failed, len(points), 0.5))
        emit(events.Done(done, failed, cancel.cancelled))
        return study


def _study(path: Path, request: Any) -> Study:
    if path.exists():
        return Study.open(path, write=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"int line_{n};\n" for n in range(1, 10))
    manifest = Manifest.new(
        title="Model",
        program="model",
        machine="ksr1",
        machine_values=machine.load("ksr1").model_dump(mode="json"),
        request=request.model_dump(mode="json") if request is not None else {},
        sources=(SourceText.of("model.c", text, text.replace("line_5;", "line_5; PROBE(2);")),),
        regions=REGIONS,
    )
    return Study.create(path, manifest)


@pytest.fixture
def model_study(tmp_path: Path) -> Callable[..., Path]:
    """Write a study file with runs on the given processor counts."""

    def make(name: str = "model", processors: tuple[int, ...] = (1, 2, 4, 8)) -> Path:
        path = tmp_path / f"{name}.sgstudy"
        study = _study(path, None)
        for n in processors:
            study.add_run(record(RunPoint(processors=n, parameters={"n": 100})))
        study.close()
        return path

    return make


@pytest.fixture
def session() -> Iterator[ModelSession]:
    made = ModelSession()
    yield made
    made.let(10_000)
    made.close()


@pytest.fixture
def window(qtbot: Any, session: ModelSession, tmp_path: Path) -> Iterator[MainWindow]:
    """The visible window with programs and machines loaded. Leaves no thread or work behind."""
    app.make_application()
    before = set(QApplication.topLevelWidgets())
    made = app.make_window(session, tmp_path / "window.ini")
    made.show()
    qtbot.waitUntil(lambda: not made.jobs.running)
    yield made
    session.let(10_000)
    made.close()
    qtbot.waitUntil(lambda: not made.jobs.running and not made.isVisible())
    assert made.jobs.join(PATIENCE_MS)
    assert QThreadPool.globalInstance().activeThreadCount() == 0
    with qtbot.waitSignal(made.destroyed):
        made.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    left = [widget for widget in QApplication.topLevelWidgets() if widget not in before and widget.isVisible()]
    assert not left


@pytest.fixture
def choose(window: MainWindow, qtbot: Any) -> Callable[..., None]:
    """Choose a shipped program with few runs and wait until the request can run."""

    def act(name: str = "billiard", **changes: Any) -> None:
        window.go("request")
        window.request.program.choose(name)
        window.request.model.edit("few runs", **({"processors": "1, 2, 4"} | changes))
        qtbot.waitUntil(lambda: window.request.can_run)

    return act


@pytest.fixture
def real(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    """The window as users have it, on a small screen; builds and runs real programs."""
    app.make_application()
    made = app.make_window(Session(), tmp_path / "window.ini")
    made.resize(1280, 720)
    made.show()
    qtbot.waitUntil(lambda: not made.jobs.running)
    yield made
    made.close()
    qtbot.waitUntil(lambda: not made.jobs.running and not made.isVisible(), timeout=RUNS_MS)
    assert made.jobs.join(RUNS_MS)
    with qtbot.waitSignal(made.destroyed):
        made.deleteLater()
