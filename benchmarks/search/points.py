"""The time to open a study of 2,000 points (goal: 2 s), to choose from it, and to filter it (goal: 50 ms).

The runs are synthetic: 10 machines x 5 splits x 4 schedules x 10 processor counts with an analytic time. Each has an
account of its cycles and ten regions, like a simulated run. The times are processor times.

    python benchmarks/search/points.py
"""

from __future__ import annotations

import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

MACHINES = (
    "epyc-7763",
    "xeon-8480",
    "xeon-8470",
    "xeon-8360y",
    "epyc-9654",
    "xeon-8160",
    "epyc-7452",
    "a64fx",
    "ksr1",
    "thunderx2",
)
SPLITS = (1, 2, 4, 8, 16)
SCHEDULES = ("static", "dynamic", "guided", "EA")
COUNTS = (2, 4, 8, 12, 16, 20, 24, 28, 32, 36)
REGIONS = 10


def make(path: Path) -> int:
    """Write the study to *path*; return its number of points."""
    from scalegraph.base.points import RunPoint
    from scalegraph.base.run import PROGRAM, Region, RegionCost, RunRecord
    from scalegraph.store import Manifest, Study

    regions = (
        PROGRAM,
        *(Region(id=at, kind="loop", name=f"loop {at}", file="p.c", line=at, parent=0) for at in range(1, REGIONS + 1)),
    )
    study = Study.create(path, Manifest.new(title="t", program="p", machine=MACHINES[0]))
    made = 0
    for (at, machine), split, schedule in itertools.product(enumerate(MACHINES), SPLITS, SCHEDULES):
        setting = {"machine": machine, "threads_per_process": str(split), "schedule": schedule}
        manifest = Manifest.new(title="t", program="p", machine=machine).model_copy(update={"regions": regions})
        part = study.add_member(setting, manifest)
        runs = []
        for count in COUNTS:
            elapsed = (10 + at) / count + 0.01 * count + 0.01 * len(schedule) / split
            cycles = int(elapsed * 1e9)
            share = cycles * count // (REGIONS + 1)
            parts = {"busy_int": share // 2, "idle_barrier": share // 3, "idle_serial": share // 6}
            runs.append(
                RunRecord(
                    source="simulated",
                    program="p",
                    machine=machine,
                    time_s=elapsed,
                    time_cycles=cycles,
                    clock_hz=1e9,
                    processes=max(1, count // split),
                    threads_per_process=split,
                    categories=parts,
                    regions=tuple(
                        RegionCost(region=at, categories=parts, elapsed=cycles // REGIONS) for at in range(REGIONS + 1)
                    ),
                    point=RunPoint(processors=count, setting=setting),
                )
            )
            made += 1
        part.add_runs(runs)
    study.close()
    return made


def timed(what: str, work: Callable[[], object], times: int = 1) -> object:
    """Print the median processor time of *work*, and return its last result."""
    taken, found = [], None
    for _ in range(times):
        begin = time.process_time()
        found = work()
        taken.append(time.process_time() - begin)
    print(f"{what:44} {statistics.median(taken) * 1e3:9.1f} ms")
    return found


def main() -> None:
    """Print the times."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from scalegraph.analyze.choosing.choice import Wishes
    from scalegraph.request import Session
    from scalegraph.subjects import choosing, space
    from scalegraph.views import registry

    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch) / "points.sgstudy"
        print(f"{make(place)} points")
        data = timed("open the study", lambda: Session().study_data(Session().open(place)))
        timed("points with costs", lambda: space.points(data))
        timed("choose", lambda: choosing.answer(data, Wishes()), 3)
        timed("choose core-hours, within 1.2", lambda: choosing.answer(data, Wishes("core_hours", 1.2)), 3)
        for name in ("choose", "points", "choice-curves", "choice-map", "parallel", "two-points"):
            timed(f"view {name}", lambda name=name: registry()[name].build(data))
        window(registry()["points"].build(data))


def window(figure: object) -> None:
    """Print the time to show the table of all points, and to filter it."""
    from PySide6.QtWidgets import QApplication

    from scalegraph.gui.base.theme import Theme
    from scalegraph.gui.figures.table.panel import TablePanel

    app = QApplication.instance() or QApplication([])
    Theme("light").apply()

    def shown() -> TablePanel:
        panel = TablePanel(figure.panels[0], "light")
        panel.resize(900, 600)
        panel.show()
        app.processEvents()
        return panel

    panel = timed("show the table", shown)

    def filtered(text: str) -> None:
        panel.filter.setText(text)
        app.processEvents()

    for text in ("ksr1", "guided", "EA", ""):
        timed(f"filter '{text}'", lambda text=text: filtered(text))


if __name__ == "__main__":
    main()
