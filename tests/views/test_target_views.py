"""Views of measured and simulated runs side by side."""

from dataclasses import replace

from scalegraph import views
from scalegraph.subjects.study import StudyData
from tests.analyze.test_targets import REGIONS, run

DATA = replace(
    StudyData.from_runs([run(11, target="")], manifest={"program": "p", "machine": "m"}, regions=REGIONS),
    elsewhere=(run(20), run(22, repetition=1), run(21, repetition=2, preempted=30)),
)


def rows(name: str, data: StudyData = DATA) -> list[tuple[object, ...]]:
    """Return the rows of the table of the view *name*."""
    figure = views.get(name).build(data)
    assert not figure.empty, figure.empty
    (table,) = figure.panels
    return [row.values for row in table.rows]  # type: ignore[union-attr]


def test_simulated_and_measured_times_stand_side_by_side_by_cause() -> None:
    found = {str(row[0]): row[2:] for row in rows("simulated-measured")}
    assert found["elapsed time"] == (11.0, 21.0, 11 / 21, 10.0)
    assert found["waiting at barriers"] == (1.0, 2.0, 0.5, 1.0)
    assert "locks and critical sections" not in found  # neither run has any


def test_what_the_model_misses_names_region_place_and_cause() -> None:
    first = rows("model-misses")[0]
    assert (first[0], first[-1]) == ("solve", "p.c:3")
    differences = [abs(float(str(row[2]))) for row in rows("model-misses")]
    assert differences == sorted(differences, reverse=True)


def test_noise_lists_every_repetition_with_what_others_took() -> None:
    found = rows("noise")
    assert [row[2] for row in found] == [1, 2, 3]
    assert found[2][6:] == (30 / 21 * 100, 1)


def test_a_study_without_measured_runs_says_what_is_missing() -> None:
    alone = replace(DATA, elsewhere=())
    for name in ("simulated-measured", "model-misses", "noise"):
        assert "measured" in views.get(name).build(alone).empty
