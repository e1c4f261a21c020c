"""What a dock shows: a view with its options, and what stays of them when "show as" changes the view."""

from __future__ import annotations

from scalegraph import views
from scalegraph.gui.dock.chosen import Chosen


def test_options_that_mean_the_same_are_taken_over_and_others_wait() -> None:
    chosen = Chosen(views.get("matrix"), {"efficiency": 0.25, "bound": "time", "processors": "2, 4"})
    assert chosen.update({"show_as": "rows"})
    assert chosen.view.name == "matrix-row"
    assert chosen.set == {
        "efficiency": 0.25
    }  # the rows' bound has other choices, and their option processors takes a single number
    assert not chosen.update({"processors": 4, "efficiency": 0.5})
    assert chosen.update({"show_as": "matrix"})
    assert chosen.set == {"efficiency": 0.5, "bound": "time", "processors": "2, 4"}
    assert chosen.get("show_as") == "matrix"


def test_an_option_of_another_view_of_the_family_is_left_out() -> None:
    chosen = Chosen(views.get("matrix"), {})
    chosen.update({"azimuth": 30.0})
    assert chosen.set == {}
