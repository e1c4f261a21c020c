"""Traces in scripts: columns with names and seconds, contradictions, and the traces of a study."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import scalegraph as sg

pytestmark = pytest.mark.slow


def test_columns_are_tables_with_names_and_seconds(place: Path) -> None:
    with sg.trace(place / "run.sgtrace") as trace:
        assert trace.seconds == 0.003
        calls = trace.columns("calls")
        assert len(calls) == trace.counts["calls"]
        assert calls["time_s"].max() == 0.003
        assert set(calls["region"]) == {"main", "work", "barrier"}
        raw = trace.columns("calls", ticks=True, numbers=True)
        assert raw["time"].max() == 3000
        assert set(raw["region"]) == {0, 1, 2}
        early = trace.columns("calls", end=0.001)
        assert 0 < len(early) < len(calls)
        assert early["time_s"].max() <= 0.001
        waits = trace.columns("waits")
        assert waits.groupby("location", observed=True).size().to_dict() == {f"rank {n}": 3 for n in range(3)}
        assert isinstance(trace.columns("messages")["sender"].dtype, pd.CategoricalDtype)
        assert list(trace.definitions("locations")["name"]) == [f"rank {n}" for n in range(4)]
        assert trace.check() == []
        assert trace.quantity("locations")["name"].tolist() == [f"rank {n}" for n in range(4)]
        assert "calls" in repr(trace)
        page = trace._repr_html_()
        assert "<td>calls</td>" in page
        assert 'src="data:image/png;base64,' in page
        assert (trace._repr_png_() or b"").startswith(b"\x89PNG")


def test_what_is_not_there_is_a_sentence(place: Path) -> None:
    trace = sg.trace("run.sgtrace")
    with pytest.raises(sg.ScaleGraphError, match="unknown kind 'call'; did you mean 'calls'"):
        trace.columns("call")
    with pytest.raises(sg.ScaleGraphError, match="unknown table 'places'"):
        trace.definitions("places")
    with pytest.raises(sg.ScaleGraphError, match=r"none.sgtrace"):
        sg.trace("none.sgtrace")
    assert place.is_dir()


@pytest.mark.compiler
def test_simulated_runs_write_traces(place: Path) -> None:
    made = sg.simulate(
        "prog.c", processors=(2, 4), args=[200], study="s.sgstudy", traced={"what": ["regions", "shares"]}
    )
    assert list(made.traces["processors"]) == [2, 4]
    with sg.trace(made.traces["path"].iloc[1]) as trace:
        assert trace.check() == []
        assert set(trace.counts) >= {"calls", "shares"}
        shares = trace.columns("shares", ticks=True)
        categories = json.loads(trace.properties["accounting"])["leaves"]
        assert shares["ticks"].sum() == sum(map(sum, categories.values()))
    Path(made.traces["path"].iloc[0]).unlink()
    assert list(made.traces["processors"]) == [4]
    assert any("is missing; it was next to the study" in note for note in made.notes)
