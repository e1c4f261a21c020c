"""Time a newcomer's first steps, with screenshots: the demonstration, then the answer for the user's own program.

Run ``python benchmarks/first_minutes.py [--since EPOCH] [--output DIR]`` in a fresh clone, installed as README says:

    since=$(date +%s); git clone REPOSITORY fresh; cd fresh
    python3 -m venv .venv && .venv/bin/pip install -q .
    xvfb-run -a .venv/bin/python benchmarks/first_minutes.py --since $since --output /tmp/steps

Prints the seconds from *since* (by default, from its own start) until the window shows the demonstration's study. Then
prints the time of each click on the way to the answer for a C program, whose bottleneck is a serial set-up loop. Writes
a screenshot of each step. Asserts nothing about times.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from scalegraph.gui import app
from scalegraph.gui.shell.main_window import MainWindow

SETUP = """\
#include <stdio.h>
#define N 200000
static double a[N], b[N];

static void setup(void)
{
    for (int i = 0; i < N; i++)
        a[i] = (double)(i % 97) / (1.0 + i); /* one thread fills the array */
}

int main(void)
{
    double sum = 0;
    setup();
    for (int step = 0; step < 5; step++) {
#pragma omp parallel for
        for (int i = 1; i < N - 1; i++)
            b[i] = 0.25 * (a[i - 1] + 2 * a[i] + a[i + 1]);
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < N; i++)
            sum += b[i];
    }
    printf("%g\\n", sum);
    return 0;
}
"""
_LONGEST_S = 600.0


def wait(condition: Callable[[], bool]) -> None:
    """Process the window's events until *condition* holds."""
    end = time.monotonic() + _LONGEST_S
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("The window did not finish this step within ten minutes.")
        QTest.qWait(20)


def drawn(window: MainWindow) -> bool:
    """Return whether every visible view shows its figure."""
    area = window.study.area
    seen = [dock for dock in area.docks if not dock.visibleRegion().isEmpty()] if area is not None else []
    return bool(seen) and all(dock.figure() is not None and not dock.drawing.stale for dock in seen)


def main() -> int:
    """Walk through the steps; return the exit code."""
    parser = argparse.ArgumentParser(description="Time a newcomer's first steps and take screenshots.")
    parser.add_argument("--since", type=float, default=time.time(), help="start of the count, in epoch seconds")
    parser.add_argument("--output", type=Path, default=Path("first-minutes"), help="directory for the screenshots")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    app.make_application()
    with tempfile.TemporaryDirectory() as place:
        window = app.make_window(settings_file=Path(place) / "window.ini")
        window.show()
        go(window, options.output, options.since, Path(place))
        window.close()
        wait(lambda: not window.jobs.running)
    return 0


def go(window: MainWindow, output: Path, since: float, place: Path) -> None:
    """Open the demonstration, then run the user's program; print and photograph each step."""

    def step(number: int, words: str, start: float) -> float:
        QTest.qWait(300)  # lets tooltips and progress lines settle; not counted
        window.grab().save(str(output / f"{number}.png"))
        print(f"{number}. {words}: {start:.1f} s")
        return time.time()

    window.demonstration.open()
    wait(lambda: window.page == "study" and drawn(window))
    step(1, "the window shows the demonstration's study, counted from the clone", time.time() - since)
    window.go("start")
    wait(lambda: not window.jobs.running)
    begin = step(2, "start page", 0.0)
    source = place / "heat.c"
    source.write_text(SETUP)
    QFileDialog.getOpenFileNames = lambda *_a, **_k: ([str(source)], "")  # type: ignore[method-assign,assignment]
    QTest.mouseClick(window.start.sources, Qt.MouseButton.LeftButton)
    wait(lambda: window.request.can_run)
    begin = step(3, "first click, Choose source files: the plan is shown", time.time() - begin)
    QTest.mouseClick(window.request.side.run, Qt.MouseButton.LeftButton)
    wait(lambda: window.page == "study" and not window.runner.busy and not window.jobs.running and drawn(window))
    begin = step(4, "second click, Run: the answer is shown", time.time() - begin)
    assert window.study.area is not None
    hottest = next(dock for dock in window.study.area.docks if dock.view.name == "hottest")
    figure = hottest.figure()
    print("   ", window.study.header.verdict.accessibleDescription())
    for row in figure.panels[0].rows if figure is not None else ():
        print("   ", "  ".join(f"{value:.3g}" if isinstance(value, float) else str(value) for value in row.values))
    tree = hottest.picture.panels[0].tree
    place_of_first = tree.visualRect(tree.model().index(0, 0)).center()
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place_of_first)
    wait(lambda: not window.jobs.running and drawn(window))
    step(5, "third click, the first line to look at: its source", time.time() - begin)


if __name__ == "__main__":
    sys.exit(main())
