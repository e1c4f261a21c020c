"""Measure how long the window stalls: the longest turn of the event loop in every user action.

    python benchmarks/stalls.py [--study FILE] [--trace FILE] [--only WORDS] [--profile] [--json FILE]
    python benchmarks/stalls.py --random 60 [--seeds 1,2,3]

Drives the real window off-screen through one session: start, a study, every arrangement for the first and the second
time, themes, selections, options, every view, the other pages, imported tables, a trace, zooms, closing. It times each
turn of the event loop (posted events, timers, input, painting) in wall-clock time and in the thread's processor time,
which other programs on the machine disturb less. During a turn the window answers no key and no click, so its length
is the delay that a user feels. Other threads only add to it while they hold Python's global lock (this shows in the
wall-clock time). For every action the script prints the longest turn, the number of turns above 50 ms, the total
processor time of the window's thread, and the time until everything was shown.

With *--random* it performs that many random actions for each seed instead: tile, float, maximise, arrange, resize,
select, filter, zoom, replay, themes.

Without *--study* it first computes the demonstration. With *--profile* it also prints, for every action whose longest
turn exceeds 50 ms of processor time, the functions in which that turn was spent. `benchmarks/README.md` has figures.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from scalegraph.gui.dock.view_dock import ViewDock
    from scalegraph.gui.shell.main_window import MainWindow

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_NO_GLIB"] = "1"  # Qt's own event loop, where one call is one turn

LIMIT_S: Final = 0.1  # longest turn that a user does not feel
LONG_S: Final = 0.05
IDLE_S: Final = 0.001  # pause after a turn in which nothing happened
QUIET_S: Final = 0.45  # an action has ended after this time without a busy turn; garbage collection runs every 0.4 s
BUSY_S: Final = 0.002
MOST_S: Final = 120.0  # time after which an action is abandoned
SIZE: Final = (1280, 720)
Step = tuple[str, Callable[[], object]]


@dataclass
class Turn:
    """One turn of the event loop, in seconds."""

    busy: float = 0.0  # processor time of the thread
    wall: float = 0.0


@dataclass
class Action:
    """What one action cost the window's thread."""

    name: str
    worst: Turn
    longest_wall: float
    long: int  # turns above 50 ms of processor time
    busy: float
    wall: float  # s until everything was shown
    profile: str = ""


class Driver:
    """Runs the event loop turn by turn and records the longest turn of each action."""

    def __init__(self, profile: bool, only: str = "") -> None:
        self.profile, self.only = profile, only
        self.actions: list[Action] = []
        self.window: MainWindow | None = None
        self.application: QApplication | None = None
        self.waits: Callable[[], bool] = lambda: False  # whether the caller expects more
        self._worst = Turn()
        self._longest_wall = self._busy = 0.0
        self._long = 0
        self._stats: cProfile.Profile | None = None

    def do(self, name: str, act: Callable[[], object]) -> None:
        """Call *act* as one turn, then run the loop until all its effects are shown."""
        self._worst, self._longest_wall, self._busy, self._long, self._stats = Turn(), 0.0, 0.0, 0, None
        begun = last = time.perf_counter()
        self._turn(act)
        while time.perf_counter() - begun < MOST_S:
            turn = self._turn(self._loop)
            now = time.perf_counter()
            if turn.busy > BUSY_S or self._working():
                last = now
            elif now - last > QUIET_S:
                break
            if turn.busy < BUSY_S:
                time.sleep(IDLE_S)
        action = Action(name, self._worst, self._longest_wall, self._long, self._busy, last - begun)
        if self.profile and self._worst.busy > LONG_S and self.only in name:
            action.profile = _told(self._stats)
        self.actions.append(action)
        print(row(action), flush=True)
        if action.profile:
            print(action.profile, flush=True)

    def _turn(self, work: Callable[[], object]) -> Turn:
        profile = cProfile.Profile(time.thread_time) if self.profile else None
        wall, busy = time.perf_counter(), time.thread_time()
        if profile is not None:
            profile.enable()
        work()
        if profile is not None:
            profile.disable()
        turn = Turn(time.thread_time() - busy, time.perf_counter() - wall)
        self._busy += turn.busy
        self._long += turn.busy > LONG_S
        self._longest_wall = max(self._longest_wall, turn.wall)
        if turn.busy > self._worst.busy:
            self._worst, self._stats = turn, profile
        return turn

    def _loop(self) -> None:
        from PySide6.QtCore import QCoreApplication, QEvent

        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # a running loop does this itself

    def _working(self) -> bool:
        return self.waits() or (self.window is not None and bool(self.window.jobs.running))


def row(action: Action) -> str:
    """Return a line of the table."""
    mark = "  <--" if action.worst.busy > LIMIT_S else ""
    return (
        f"{action.name:44} {1e3 * action.worst.busy:8.0f} {1e3 * action.longest_wall:8.0f} {action.long:6}"
        f" {1e3 * action.busy:9.0f} {action.wall:9.2f}{mark}"
    )


HEAD: Final = f"{'action':44} {'turn, ms':>8} {'wall, ms':>8} {'>50 ms':>6} {'all, ms':>9} {'done, s':>9}\n{'-' * 90}"


def _told(profile: cProfile.Profile | None) -> str:
    """Return the profile of the longest turn: functions by cumulative time, then by their own time."""
    import io

    if profile is None:
        return ""
    text = io.StringIO()
    stats = pstats.Stats(profile, stream=text)
    stats.sort_stats("cumulative").print_stats(28)
    stats.sort_stats("tottime").print_stats(14)
    lines = [line for line in text.getvalue().splitlines() if line.strip() and "Ordered by" not in line]
    return "\n".join("    " + line.replace(str(Path(__file__).parents[1]) + "/", "") for line in lines)


# the session


def walk(driver: Driver, study: Path, trace: Path, table: Path, values: Path, home: Path) -> None:
    """Perform every action once, as a user would."""
    _start(driver, home)
    window = driver.window
    assert window is not None
    steps: list[Iterator[Step]] = [
        _pages(window),
        _study(window, study),
        _themes(window, "with views of a study"),
        _choices(window),
        _single_views(window),
        _tables(window, table, values),
        _trace(window, trace),
        _themes(window, "with a trace"),
        _end(window, study, trace),
    ]
    for part in steps:
        for name, act in part:
            driver.do(name, act)


def wander(driver: Driver, study: Path, trace: Path, home: Path, seeds: list[int], count: int) -> None:
    """Perform *count* random actions for each of *seeds*, with a study and a trace open."""
    _start(driver, home)
    window = driver.window
    assert window is not None
    driver.do("open a study", lambda: window.open_files([study]))
    driver.do("open a trace", lambda: window.open_files([trace]))
    keys = [str(path.resolve()) for path in (study, trace)]
    for seed in seeds:
        chance = Random(seed)
        for number in range(count):
            name, act = _any(window, keys, chance)
            driver.do(f"seed {seed}, {number}: {name}", act)


def _any(window: MainWindow, keys: list[str], chance: Random) -> Step:
    """Return a random user action."""
    from scalegraph.gui.dock.arrangements import ARRANGEMENTS, TRACE_ARRANGEMENTS

    area, handle = window.study.area, window.study.handle
    assert area is not None
    assert handle is not None
    dock: ViewDock = chance.choice(_docks(window) or [None])
    traced = handle.subject == "trace"
    name = chance.choice(list(TRACE_ARRANGEMENTS if traced else ARRANGEMENTS))
    size = chance.randrange(800, 2000), chance.randrange(600, 1100)
    mode, count, key = chance.choice(("dark", "light")), chance.choice((1, 2, 8, 32, 64)), chance.choice(keys)
    steps: list[Step] = [
        (f"arrange {name}", partial(window.study.arrange, name)),
        ("tile all", area.tile_all),
        (f"resize to {size[0]} x {size[1]}", partial(window.resize, *size)),
        (f"theme {mode}", window.actions_[f"theme_{mode}"].trigger),
        ("other study or trace", partial(window.selection.select, study=key)),
        (f"select N = {count}", partial(window.selection.select, processors=count)),
        ("clear the selection", window.selection.clear),
        ("undo", window.actions_["undo"].trigger),
    ]
    if dock is not None:
        what = dock.view.name
        steps += [
            (f"float or dock {what}", partial(dock.setFloating, not dock.isFloating())),
            (f"maximise {what}", partial(area.maximise, dock)),
            (f"filter and search in {what}", partial(_filter, dock, chance.choice(("a", "loop", "")))),
        ]
    if traced:
        at = chance.random() * 0.9
        length: float = handle.window.length  # type: ignore[attr-defined]
        span = 10.0 ** -chance.uniform(0.5, 4) * length
        steps += [
            ("zoom in time", partial(handle.window.show, at * length, at * length + span)),  # type: ignore[attr-defined]
            ("the whole run", handle.window.fit),  # type: ignore[attr-defined]
            ("replay", partial(handle.replay.seek, at * length)),  # type: ignore[attr-defined]
        ]
    return chance.choice(steps)


def _filter(dock: ViewDock, text: str) -> None:
    """Type *text* into every filter field in *dock*."""
    from PySide6.QtWidgets import QLineEdit

    for field in dock.findChildren(QLineEdit):
        if field.isVisible() and field.accessibleName().startswith(("Filter", "Find")):
            field.setText(text)


def _start(driver: Driver, home: Path) -> None:
    def application() -> None:
        from scalegraph.gui import app

        driver.application = app.make_application()

    kept: list[Any] = []

    def made(window: MainWindow) -> None:
        driver.window = window
        window.resize(*SIZE)
        window.show()
        kept[0].end()

    def begin() -> None:
        from scalegraph.gui.starting.first import Starting

        kept.append(Starting(home / "window.ini"))
        kept[0].ready.connect(made)
        kept[0].begin()

    driver.do("start: modules and application", application)
    driver.waits = lambda: driver.window is None
    driver.do("start: first picture, window, modules for views", begin)
    driver.waits = lambda: False
    assert driver.window is not None


def _pages(window: MainWindow) -> Iterator[Step]:
    yield "new request, first time", lambda: window.go("request")
    yield "choose a program", lambda: window.request.program.choose("billiard")
    yield "start page", lambda: window.go("start")
    yield "new request, second time", lambda: window.go("request")


def _study(window: MainWindow, study: Path) -> Iterator[Step]:
    from scalegraph.gui.dock.arrangements import ARRANGEMENTS

    yield "open a study", lambda: window.open_files([study])
    for time_ in ("first", "second"):
        for name in ARRANGEMENTS:
            yield f"{name}, {time_} time", partial(window.study.arrange, name)


def _themes(window: MainWindow, where: str) -> Iterator[Step]:
    for mode in ("dark", "light", "dark", "light"):
        yield f"{mode} {where}", window.actions_[f"theme_{mode}"].trigger


def _docks(window: MainWindow) -> list[ViewDock]:
    assert window.study.area is not None
    return window.study.area.docks


def _choices(window: MainWindow) -> Iterator[Step]:
    area = window.study.area
    assert area is not None
    yield "Overview", lambda: window.study.arrange("Overview")
    yield "select N = 8", lambda: window.selection.select(processors=8)
    yield "select N = 32", lambda: window.selection.select(processors=32)
    yield "select a region", lambda: window.selection.select(region=2)
    yield "clear the selection", window.selection.clear
    yield "back", window.actions_["back"].trigger
    yield "maximise a view", lambda: area.maximise(_docks(window)[0])
    yield "all views again", lambda: area.maximise(_docks(window)[0])
    yield "wider window", lambda: window.resize(1920, 1080)
    yield "smaller window", lambda: window.resize(*SIZE)
    yield "what if", lambda: window.panels.want("whatif", True)
    yield "close what if", lambda: window.panels.want("whatif", False)
    yield "queue", lambda: window.panels.want("queue", True)
    yield "close queue", lambda: window.panels.want("queue", False)
    yield "palette", window.actions_["palette"].trigger
    yield "close palette", window.palette_.close
    yield "shortcuts", window.actions_["shortcuts"].trigger
    yield "close shortcuts", window.sheet.close
    for dock in _docks(window)[:4]:
        for option in dock.view.options[:2]:
            values: list[Any] = [*option.choices[1:2], *([True] if option.type == "bool" else [])]
            for value in values:
                name = f"option {option.name} = {value} of {dock.view.name}"
                yield name, partial(dock.options.changed.emit, option.name, value)
    yield "undo", window.actions_["undo"].trigger
    yield "tile all", area.tile_all


def _single_views(window: MainWindow) -> Iterator[Step]:
    from scalegraph import views

    area = window.study.area
    assert area is not None
    for name in views.registry("study"):
        yield f"view {name}", partial(window.study.show_view, name)
    yield "Overview after all views", lambda: window.study.arrange("Overview")


def _tables(window: MainWindow, table: Path, values: Path) -> Iterator[Step]:
    yield "import a small table", lambda: window.open_files([table])
    if window.page == "import":
        yield "keep a small table", window.imports.page.accept
    yield "import a million values", lambda: window.open_files([values])
    if window.page == "import":
        yield "keep a million values", window.imports.page.accept


def _trace(window: MainWindow, trace: Path) -> Iterator[Step]:
    from scalegraph.gui.dock.arrangements import TRACE_ARRANGEMENTS

    yield "open a trace", lambda: window.open_files([trace])
    for time_ in ("first", "second"):
        for name in TRACE_ARRANGEMENTS:
            yield f"{name}, {time_} time", partial(window.study.arrange, name)
    yield "Timeline", lambda: window.study.arrange("Timeline")
    handle: Any = window.study.handle
    length = handle.window.length
    yield "zoom to a tenth", lambda: handle.window.show(0.4 * length, 0.5 * length)
    yield "zoom to a thousandth", lambda: handle.window.show(0.45 * length, 0.451 * length)
    yield "pan", lambda: handle.window.show(0.4505 * length, 0.4515 * length)
    yield "the whole run again", handle.window.fit


def _end(window: MainWindow, study: Path, trace: Path) -> Iterator[Step]:
    yield "another study's views", lambda: window.selection.select(study=str(study.resolve()))
    yield "close the trace", lambda: window.close_study(str(trace.resolve()))
    yield "close the study", lambda: window.close_study(str(study.resolve()))
    yield "close the window", window.close


# the files to open


def small_table(path: Path) -> None:
    """Write a table of measured times."""
    rows = [f"{n},{size},{size * size / n + 40 * n}" for n in (1, 2, 4, 8, 16, 32) for size in (100, 200, 400)]
    path.write_text("\n".join(["processors,n,time (s)", *rows]) + "\n")


def large_table(path: Path) -> None:
    """Write a million times: 20 repetitions of 500 call paths over 10 N and 10 sizes."""
    with path.open("w") as file:
        file.write("processors,n,callpath,metric,value\n")
        for processors in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
            for size in range(100, 1100, 100):
                for place in range(500):
                    base = (place % 7 + 1) * size / processors + place % 5
                    said = f"{processors},{size},main->part{place % 20}->step{place},time,"
                    file.writelines(f"{said}{base + 0.001 * again:.4f}\n" for again in range(20))


def demonstration(home: Path) -> Path:
    """Compute the demonstration's study."""
    import subprocess

    print("computing the demonstration first ...", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "scalegraph.cli.main", "demo", "--headless", "-o", str(home)], check=True)
    return next(home.glob("demo*.sgstudy"))


def made_trace(home: Path) -> Path:
    """Write a trace of half a million events of 32 processes."""
    import timeline

    path = home / "made.sgtrace"
    timeline.make(path, 500_000, 32)
    return path


def main() -> None:
    """Run the session or the random actions, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", type=Path, help="a study to open (default: compute the demonstration)")
    parser.add_argument("--trace", type=Path, help="a trace to open (default: generate one)")
    parser.add_argument("--only", default="", help="with --profile: only actions whose names contain this")
    parser.add_argument("--profile", action="store_true", help="print where the longest turns were spent")
    parser.add_argument("--json", type=Path, help="also write the table as JSON")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="N random actions for each seed instead")
    parser.add_argument("--seeds", default="1,2,3", help="seeds of --random (default: 1,2,3)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stalls-") as place:
        home = Path(place)
        study = (asked.study or demonstration(home)).resolve()
        trace = (asked.trace or made_trace(home)).resolve()
        table, values = home / "small.csv", home / "million.csv"
        small_table(table)
        large_table(values)
        driver = Driver(asked.profile, asked.only)
        print(HEAD, flush=True)
        if asked.random:
            wander(driver, study, trace, home, [int(seed) for seed in asked.seeds.split(",")], asked.random)
        else:
            walk(driver, study, trace, table, values, home)
        over = [action for action in driver.actions if action.worst.busy > LIMIT_S]
        print(f"\n{len(over)} of {len(driver.actions)} actions have a turn above {1e3 * LIMIT_S:.0f} ms")
        if asked.json:
            said = [{**vars(action), "worst": vars(action.worst)} for action in driver.actions]
            asked.json.write_text(json.dumps(said, indent=1))


if __name__ == "__main__":
    main()
