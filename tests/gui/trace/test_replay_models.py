"""Replay and bookmarks without a window: position, speed, and what is saved and restored."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QUndoStack

from scalegraph.base.errors import InputError
from scalegraph.gui.base.settings import Settings
from scalegraph.gui.state import bookmark_store as store
from scalegraph.gui.state.bookmark_store import Bookmark, Whose
from scalegraph.gui.state.replay_state import ReplayState, scrolled, speed_words, usual_speed
from scalegraph.gui.state.time_window import TimeWindow
from scalegraph.gui.state.trace_marks import TraceMarks
from scalegraph.gui.trace.bookmarks import Bookmarks
from scalegraph.gui.trace.replay import TraceReplay

META = SimpleNamespace(ticks_per_second=1000, begin=100)


def test_time_follows_the_clock_however_often_one_asks() -> None:
    often, once = ReplayState(end=10.0, speed=0.5), ReplayState(end=10.0, speed=0.5)
    often.play(100.0)
    once.play(100.0)
    for tick in range(1, 60):
        often.advance(100.0 + tick / 10)
    assert often.now == pytest.approx(once.advance(105.9)) == pytest.approx(2.95)


def test_it_stops_at_the_end_and_plays_again_from_the_begin() -> None:
    state = ReplayState(begin=2.0, end=4.0, now=3.5, speed=1.0)
    state.play(0.0)
    assert state.advance(9.0) == 4.0
    assert not state.playing
    state.play(20.0)
    assert state.advance(20.5) == 2.5
    state.pause(20.75)
    assert state.advance(30.0) == 2.75


def test_a_loop_goes_round_also_when_several_rounds_were_missed() -> None:
    state = ReplayState(begin=1.0, end=2.0, now=1.0, loop=True)
    state.play(0.0)
    assert state.advance(1.25) == pytest.approx(1.25)
    assert state.advance(7.5) == pytest.approx(1.5)
    assert state.playing


def test_another_speed_or_another_interval_does_not_move_it() -> None:
    state = ReplayState(end=10.0)
    state.play(0.0)
    state.set_speed(0.1, 2.0)
    assert state.now == 2.0
    assert state.advance(4.0) == pytest.approx(2.2)
    state.set_bounds(1.0, 3.0, 4.0)
    assert state.now == pytest.approx(2.2)
    assert state.share() == pytest.approx(0.6)
    state.set_bounds(5.0, 6.0, 4.0)
    assert state.now == 5.0
    assert state.at_share(0.5) == 5.5


@pytest.mark.slow
@given(st.floats(0, 1), st.floats(0, 1), st.lists(st.floats(0, 5), max_size=20), st.booleans())
def test_it_never_leaves_what_is_played(begin: float, length: float, waits: list[float], loop: bool) -> None:
    state = ReplayState(begin, begin + length, loop=loop, speed=0.7)
    clock = 0.0
    state.play(clock)
    for wait in waits:
        clock += wait
        assert state.begin <= state.advance(clock) <= state.end


@pytest.mark.slow
@given(st.floats(1e-9, 1e4))
def test_what_is_visible_plays_in_about_twenty_seconds(width: float) -> None:
    assert 20 / 1.6 <= width / usual_speed(width) <= 20 * 1.6


def test_speeds_in_words() -> None:
    assert speed_words(1.0) == "real time"
    assert speed_words(0.005) == "5 ms per second"
    assert speed_words(2.5e-5) == "25 µs per second"


def test_the_window_goes_a_page_on_when_the_line_leaves_it() -> None:
    assert scrolled(1.0, 2.0, 1.5) is None
    assert scrolled(1.0, 2.0, 2.5) == pytest.approx((2.4, 3.4))


def test_the_line_moves_with_the_clock_and_takes_the_window_along(qapp: object) -> None:
    clock = [0.0]
    window, marks = TimeWindow(10.0), TraceMarks()
    replay = TraceReplay(window, marks, clock=lambda: clock[0])
    assert replay.speed == 0.5
    window.show(4.0, 5.0)
    assert replay.speed == 0.05
    assert not replay.shown
    replay.play()
    assert replay.now == 4.0  # starts at the visible time
    clock[0] = 10.0
    replay.tick()
    assert [moment.seconds for moment in marks.moments()] == [pytest.approx(4.5)]
    assert window.shown == (4.0, 5.0)
    clock[0] = 22.0
    replay.tick()
    assert window.shown == pytest.approx((5.0, 6.0))
    replay.hide()
    assert marks.moments() == []
    assert not replay.playing


def test_bookmarks_are_written_and_read() -> None:
    whose = Whose("/a/run.sgtrace", 7, 1e6)
    some = (Bookmark(1, 1, "é one"), Bookmark(5, 9, "two"))
    assert store.read(store.written(some, whose)) == (whose, some)
    assert store.rescaled(some, 1e6, 2e6) == (Bookmark(2, 2, "é one"), Bookmark(10, 18, "two"))
    assert store.free_name([Bookmark(0, 0, "Bookmark 1")]) == "Bookmark 2"
    assert store.tidy(" a\n b ") == "a b"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "holds no bookmarks"),
        ('{"format": "scalegraph-bookmarks", "version": 9}', "version 1, got '9'"),
        (
            '{"format": "scalegraph-bookmarks", "version": 1, "trace": "", "size": 1, "bookmarks": [1]}',
            "expected name, begin and end",
        ),
    ],
)
def test_a_file_that_holds_no_bookmarks_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        store.read(text, "x.json")


def kept(settings: Settings, path: Path) -> Bookmarks:
    made = Bookmarks(QUndoStack(), TraceMarks())
    made.keep_in(settings)
    made.belong_to(path, META)
    return made


def test_bookmarks_are_kept_by_trace_and_follow_a_file_that_moved(qapp: object, tmp_path: Path) -> None:
    settings = Settings(tmp_path / "window.ini")
    path = tmp_path / "run.sgtrace"
    path.write_bytes(b"12345")
    first = kept(settings, path)
    first.add(300, 200, "from here")
    first.add(150, 150)
    again = kept(Settings(tmp_path / "window.ini"), path)
    assert again.all == (Bookmark(150, 150, "Bookmark 1"), Bookmark(200, 300, "from here"))
    assert [again.seconds(one.begin) for one in again.all] == pytest.approx([0.05, 0.1])
    moved = tmp_path / "else" / "run.sgtrace"
    moved.parent.mkdir()
    moved.write_bytes(path.read_bytes())
    assert kept(settings, moved).all == ()  # a copy is another trace
    path.unlink()
    assert kept(settings, moved).all == again.all


def test_what_cannot_be_read_is_set_aside_and_never_lost(qapp: object, tmp_path: Path) -> None:
    settings = Settings(tmp_path / "window.ini")
    path = tmp_path / "run.sgtrace"
    kept(settings, path).add(1, 1)
    (key,) = [f"bookmarks/{name}" for name in _names(settings)]
    settings.set_text(key, "not bookmarks")
    fresh = kept(settings, path)
    assert fresh.all == ()
    fresh.add(2, 2)
    assert "not bookmarks" in settings.texts("bookmarks")
    assert kept(settings, path).all == fresh.all


def _names(settings: Settings) -> list[str]:
    settings._store.beginGroup("bookmarks")
    names = settings._store.childKeys()
    settings._store.endGroup()
    return names


def test_changes_of_bookmarks_are_undone_and_files_are_added(qapp: object, tmp_path: Path) -> None:
    stack = QUndoStack()
    made = Bookmarks(stack, TraceMarks())
    made.belong_to(tmp_path / "run.sgtrace", META)
    one = made.add(10, 20, "one")
    made.rename(one, "uno")
    made.rename(made.all[0], "   ")
    assert [mark.name for mark in made.all] == ["uno"]
    made.export(tmp_path / "kept.json")
    made.remove(made.all)
    assert made.all == ()
    assert made.load(tmp_path / "kept.json") == 1
    assert made.load(tmp_path / "kept.json") == 0
    while stack.canUndo():
        stack.undo()
    assert made.all == ()
    stack.redo()
    assert made.all == (one,)
    (tmp_path / "bad.json").write_text("x")
    with pytest.raises(InputError, match="not JSON"):
        made.load(tmp_path / "bad.json")
