"""Regenerate the pictures of docs/WINDOW.md and README.md from a real study and real runs.

``python docs/make_pictures.py [STUDY]`` makes all of them. Without a study it first runs the demonstration, which takes
a minute or two. Options make only some of the pictures:

- ``--causes``: caches and memory, and what-if runs;
- ``--measured``: measurement sets, with synthetic numbers that follow a law with a little noise;
- ``--traces``: traces;
- ``--first``: the first minutes (start page, request panel, the answer for the user's own program);
- ``--window``: the window with the shipped demonstration.

All are screenshots of the real window, as a user sees it on a screen of 1280 x 800 pixels.
"""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PIL import Image
from PySide6.QtCore import QBuffer, QDeadlineTimer, QEventLoop, QIODevice
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from scalegraph.figures import render
from scalegraph.figures.figure import Timeline
from scalegraph.gui import app
from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.trace.handle import TraceHandle
from scalegraph.request import Session
from scalegraph.request.model.request import TraceChoice
from scalegraph.subjects.option import OptionValue
from scalegraph.views.ways import ADD_SIZES

IMAGES = Path(__file__).parent / "images"
WINDOW = (1280, 800)
COLOURS = 255
CAUSES = (
    *("remote-causes", "hit-rates", "invalidations", "widths", "miss-latency", "miss-classes"),
    *("variables", "false-sharing", "hot-spots", "what-if", "virtual-speedup"),
)
BOUNDED = ("roofline",)
REQUEST = """title = "Gauss elimination"
processors = [1, 2, 4, 8, 16, 32]
program = { name = "ge1-owner" }
parameters = { n = 96 }
machine = { name = "ksr1" }
bound = { kind = "problem_size" }
collect = { classes = true }
speedups = { lines = 3, factors = [1.5, 2, 4, "inf"] }
"""
HEAT = """#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100000;
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), sum = 0;
    for (int i = 0; i < n; i++)
        a[i] = (i % 97) / (1.0 + i);
    for (int step = 0; step < 20; step++) {
#pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            b[i] = 0.25 * (a[i - 1] + 2 * a[i] + a[i + 1]);
#pragma omp parallel for reduction(+ : sum)
        for (int i = 1; i < n - 1; i++)
            sum += b[i];
    }
    printf("%g\\n", sum);
    return 0;
}
"""
WHAT_IFS = ("contention", "network", "cache", "sync", "balance")
SHARED = ("compare", "compare-matrix")  # views of several studies
SEARCHED = "loop eliminate"  # a region of the open trace
MONITORED = ("monitoring",)  # views of runs that are monitored on the simulated machine
REGIONS = (("setup", 0.06, 0.9), ("sweep", 0.8, 0.02), ("exchange", 0.04, 0.25), ("output", 0.02, 0.6))
LONGEST_MS = 600_000
SETTLED_MS = 300  # time for timers that combine several changes into one redraw


def main(arguments: list[str]) -> int:
    """Write every picture; return the exit code."""
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        only = arguments[0] if arguments and arguments[0].startswith("--") else ""
        study = Path(arguments[0]) if arguments and not only else directory / "demo" / "demo.sgstudy"
        if not arguments:
            demonstration(directory)
        IMAGES.mkdir(parents=True, exist_ok=True)
        found = of_traces(directory) if only in ("", "--traces") else []
        app.make_application()
        window = app.make_window(settings_file=directory / "window.ini")
        window.resize(*WINDOW)
        window.show()
        window.actions_["theme_light"].trigger()
        settle(window)
        if only in ("", "--first", "--window"):
            save(window, "start")
        if only == "--window":
            window.demonstration.open()
            settle(window)
            whole(window)
        if only == "--first":
            request(window)
            answered(window, directory)
        if found:
            traced(window, found)
        if not only:
            request(window)
            answered(window, directory)
            window.open_study(study)
            settle(window)
            whole(window)
            views(
                window,
                [name for name in window.session.views() if name not in (*CAUSES, *SHARED, *MONITORED, *BOUNDED)],
            )
            views(window, ("parallelism",), "-operations", of="operations")
        if only not in ("--measured", "--traces", "--first", "--window"):
            window.resize(*WINDOW)
            window.panels.want("navigator", True)
            window.open_study(with_causes(directory))
            settle(window)
            causes(window)
            views(window, CAUSES)
            study = monitored(directory)
            window.open_study(study)
            settle(window)
            views(window, MONITORED)
            window.close_study(str(study.resolve()))  # keeps it out of the comparison
            settle(window)
            study = bounded(directory)
            window.open_study(study)
            settle(window)
            views(window, BOUNDED)
            window.close_study(str(study.resolve()))
            settle(window)
        if only not in ("--causes", "--traces", "--first", "--window"):
            window.resize(*WINDOW)
            window.panels.want("navigator", True)
            measured(window, directory)
        window.close()
        wait(lambda: not window.isVisible())
    return 0


def of_traces(directory: Path) -> list[Path]:
    """Simulate Gauss elimination with traces, write its spacetime diagrams, and return the paths of the traces."""
    session, study = Session(), directory / "ge2.sgstudy"
    kept = session.simulate(["ge2"], processors=(4, 16), trace=TraceChoice(), study_path=study)
    found = [run.path for run in session.traces(kept)]
    kept.close()
    four, sixteen = (session.open_trace(path) for path in found)
    with four.trace, sixteen.trace:
        for name, view, data, options in (
            ("spacetime", "spacetime", sixteen, {"end": 0.02}),
            ("trace-compare", "trace-compare", replace(four, others=(sixteen,)), {"align": "relative"}),
            ("trace-critical-path", "critical-path", sixteen, {"end": 0.02, "show": "regions"}),
        ):
            figure = replace(session.trace_view(data, view, **options), notes=())
            panels = tuple(panel for panel in figure.panels if isinstance(panel, Timeline))
            picture = render.content(replace(figure, panels=panels), "png", theme="light", dpi=120)
            colours = Image.open(io.BytesIO(picture)).convert("P", palette=Image.Palette.ADAPTIVE, colors=COLOURS)
            colours.save(IMAGES / f"{name}.png", optimize=True)
    return found


def replayed(window: MainWindow) -> None:
    """Save a picture of the open trace's replay with the view of its current moment, a bookmark and two cursors."""
    handle, area = window.study.handle, window.study.area
    assert area is not None
    assert isinstance(handle, TraceHandle)
    length = handle.window.length
    handle.window.show(0.2 * length, 0.4 * length)
    handle.bookmarks.add(handle.tick(0.22 * length), handle.tick(0.25 * length), "a slow step")
    handle.marks.place(0.33 * length, "A")
    handle.marks.place(0.36 * length, "B")
    handle.replay.seek(0.29 * length)
    area.replay_bar.now.click()
    settle(window)
    save(window, "trace-replay")
    handle.replay.hide()
    handle.marks.remove_cursors()
    handle.window.fit()


def traced(window: MainWindow, found: list[Path]) -> None:
    """Save pictures of a trace in the window with search results, and of two traces compared."""
    four, sixteen = found
    window.open_trace(sixteen)
    settle(window)
    area = window.study.area
    assert area is not None
    area.search.start()
    area.search.field.setText(SEARCHED)
    area.search.field.textEdited.emit(SEARCHED)
    settle(window)
    area.search.step()
    settle(window)
    save(window, "trace-window")
    window.selection.clear()
    replayed(window)
    window.panels.want("navigator", False)
    window.open_trace(four)
    settle(window)
    window.study.arrange("Compare traces")
    settle(window)
    save(window, "trace-window-compare")
    window.panels.want("navigator", True)
    for path in found:
        window.close_study(str(path.resolve()))
    settle(window)


def demonstration(directory: Path) -> None:
    """Run the demonstration."""
    command = [sys.executable, "-m", "scalegraph.cli.main", "demo", "--headless", "-o", str(directory / "demo")]
    subprocess.run(command, check=True)


def with_causes(directory: Path) -> Path:
    """Run a study with miss classes and what-if runs; return its path."""
    tables = "".join(f'[[what_if]]\nideal = ["{name}"]\nprocessors = [8, 32]\n' for name in WHAT_IFS)
    asked, study = directory / "causes.toml", directory / "causes.sgstudy"
    asked.write_text(REQUEST + tables)
    command = [sys.executable, "-m", "scalegraph.cli.main", "run", str(asked), "-o", str(study), "--quiet"]
    subprocess.run(command, check=True)
    return study


def monitored(directory: Path) -> Path:
    """Run a study whose runs are monitored by software on the simulated machine; return its path."""
    study = directory / "monitored.sgstudy"
    options = ("--processors", "1,2,4,8,16,32", "--monitor", "software", "-o", str(study))
    subprocess.run([sys.executable, "-m", "scalegraph.cli.main", "simulate", "ge2", *options], check=True)
    return study


def bounded(directory: Path) -> Path:
    """Run a study of a memory-bound program on a modern machine; return its path."""
    study = directory / "bounded.sgstudy"
    options = ("-m", "server-2x32", "-p", "1,8,32", "-o", str(study), "--", "2000", "2")
    subprocess.run([sys.executable, "-m", "scalegraph.cli.main", "simulate", "jacobi", *options], check=True)
    return study


def measurements(directory: Path, name: str, serial: float) -> Path:
    """Write a table of times by region: four sizes on 1 to 64 processors, three repetitions."""
    noise = random.Random(7)
    lines = ["ranks,size,region,time"]
    for size in (1000, 2000, 4000, 8000):
        for ranks in (1, 2, 4, 8, 16, 32, 64):
            for region, share, grows in REGIONS:
                work = share * size * size * 1e-6
                seconds = work * (1 - serial) / ranks + serial * work + grows * 1e-3 * ranks**0.5
                lines += [f"{ranks},{size},{region},{seconds * noise.uniform(0.99, 1.01):.6f}" for _ in range(3)]
    path = directory / f"{name}.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def measured(window: MainWindow, directory: Path) -> None:
    """Save pictures of imported measurements: the questions, the models, the draggable lines, two studies compared."""
    for name, serial in (("before", 0.004), ("after", 0.001)):
        window.open_files([measurements(directory, name, serial)])
        wait(lambda: window.page == "import" and window.imports.page.latest is not None)
        page = window.imports.page
        page.form.edited.emit("meaning", "total", "*")
        settle(window)
        if name == "before":
            save(window, "measurements")
        page.form.edited.emit("meaning", "unit", "s")
        settle(window)
        if page.form.fault_of("scaling"):
            page.form.edited.emit("meaning", "scaling", "strong")
            settle(window)
        if name == "before":
            save(window, "measurements-ready")
        page.accept()
        wait(lambda: window.page == "study")
        settle(window)
        window.statusBar().clearMessage()
        window.study.banner.clear()
    window.navigator.search.setText("")
    for arrangement in ("Models", "Isospeed", "Regions", "Compare"):
        window.study.arrange(arrangement)
        settle(window)
        save(window, arrangement.lower())
    views(window, SHARED)


def causes(window: MainWindow) -> None:
    """Save pictures of the arrangement for caches and memory, and of the What if panel beside its answer."""
    window.study.arrange("Cache and memory")
    settle(window)
    save(window, "cache")
    area, handle = window.study.area, window.study.handle
    assert area is not None
    assert handle is not None
    window.panels.want("navigator", False)
    window.panels.want("whatif", True)
    area.maximise(area.show_view(handle, "what-if"))
    settle(window)
    save(window, "what-if")
    area.maximise(area.show_view(handle, "what-if"))
    window.panels.want("whatif", False)


def request(window: MainWindow) -> None:
    """Save pictures of the request panel with its plan, and of the queue while runs finish."""
    window.go("request")
    window.request.program.choose("ge2")
    wait(lambda: window.request.can_run)
    settle(window)
    save(window, "request")
    window.request.start()
    entry = window.runner.entries[0]
    wait(lambda: entry.ended or (entry.finished >= 5 and window.page == "study"))
    pause(SETTLED_MS)
    save(window, "queue")
    window.runner.cancel_all()
    wait(lambda: entry.ended)
    settle(window)
    window.close_study(window.study.handle.key if window.study.handle else "")
    window.panels.use("queue", False)
    window.statusBar().clearMessage()


def answered(window: MainWindow, directory: Path) -> None:
    """Save pictures of the first answer for the user's own program, and of the request that adds sizes to it."""
    source = directory / "heat.c"
    source.write_text(HEAT)
    session, study = Session(), directory / "heat.sgstudy"
    counts = (1, 2, 4, 8, 16, 32, 64)
    session.simulate([source], processors=counts, args=["100000"], study_path=study).close()
    window.open_study(study)
    settle(window)
    area = window.study.area
    assert area is not None
    dock = next(dock for dock in area.docks if dock.view.name == "hottest")
    wait(lambda: dock.figure() is not None)
    settle(window)
    save(window, "answer")
    press(dock.picture.ways, ADD_SIZES.text)
    wait(lambda: window.page == "request" and window.request.can_run)
    settle(window)
    save(window, "request-sizes")
    window.request.banner.clear()
    window.close_study(str(study.resolve()))
    window.go("start")
    settle(window)


def whole(window: MainWindow) -> None:
    """Save pictures of the whole window, light and dark."""
    window.study.arrange("Overview")
    settle(window)
    save(window, "window")
    window.actions_["theme_dark"].trigger()
    settle(window)
    save(window, "window-dark")
    window.actions_["theme_light"].trigger()
    window.study.arrange("Lost time")
    settle(window)
    save(window, "lost")
    area = window.study.area
    assert area is not None
    window.panels.want("inspector", True)
    window.study.arrange("Scalability")
    window.selection.select(cell=(4, 32))
    settle(window)
    save(window, "inspector")
    window.panels.want("inspector", False)
    window.selection.clear()


def press(ways: QWidget, text: str) -> None:
    """Press the button *text* below a picture, as a user does."""
    next(button for button in ways.findChildren(QPushButton) if button.text() == text).click()


def views(window: MainWindow, names: Iterable[str], suffix: str = "", **options: OptionValue) -> None:
    """Save a picture of each of the views *names*, maximised, with *options*."""
    area, handle = window.study.area, window.study.handle
    assert area is not None
    assert handle is not None
    window.panels.want("navigator", False)
    window.resize(1100, 760)
    for name in names:
        dock = area.show_view(handle, name)
        if options:
            dock.set_options(options)
        area.maximise(dock)
        settle(window)
        save(dock, f"view-{name}{suffix}")
        area.maximise(dock)


def settle(window: MainWindow) -> None:
    """Wait until everything visible is drawn."""
    for _ in range(2):
        pause(SETTLED_MS)
        wait(lambda: not window.jobs.running and not len(turn_queue()))


def wait(ready: Callable[[], bool]) -> None:
    """Process the window's events until *ready* returns True."""
    deadline = QDeadlineTimer(LONGEST_MS)
    while not ready():
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 50)
        if deadline.hasExpired():
            raise TimeoutError("the window was still busy after ten minutes")


def pause(milliseconds: int) -> None:
    """Process the window's events for *milliseconds*."""
    deadline = QDeadlineTimer(milliseconds)
    wait(deadline.hasExpired)


def save(widget: QWidget, name: str) -> None:
    """Write a screenshot of *widget* with a reduced palette."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    widget.grab().save(buffer, "PNG")
    picture = Image.open(io.BytesIO(buffer.data().data())).convert("RGB")
    path = IMAGES / f"{name}.png"
    picture.quantize(COLOURS, kmeans=4, dither=Image.Dither.NONE).save(path, optimize=True)
    sys.stdout.write(f"{path.name}: {path.stat().st_size // 1000} kB\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
