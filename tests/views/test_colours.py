"""Colours in one picture differ, also for the colour-blind; a processor count has the same colour in all views."""

import re
from collections.abc import Sequence
from itertools import combinations, islice

import pytest

from scalegraph import views
from scalegraph.analyze.metrics import CAUSES, STALL_CAUSE
from scalegraph.figures import palette
from scalegraph.figures.figure import Axis, Figure, Line, Panel, Plot, Radar, Timeline
from scalegraph.runtime.format import CATEGORY_NAMES
from scalegraph.views import common
from tests.views import studies, traces
from tests.views.colour_distance import ciede2000, lab, least

pytestmark = pytest.mark.slow

APART = 5.0  # in CIEDE2000; side by side, 2 is visible
LINE = "line "  # before the role of a line
DASHED = "dashed "  # before the role of a dashed line
THEMES: tuple[palette.Theme, ...] = ("light", "dark", "print")


def test_the_formula_is_that_of_the_published_pairs() -> None:
    one, other = (50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485)  # the first of Sharma's pairs
    assert ciede2000(one, other) == pytest.approx(2.0425, abs=1e-4)
    assert lab("#FFFFFF") == pytest.approx([100, 0, 0], abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
def test_categories_of_the_accounting_are_told_apart(theme: palette.Theme) -> None:
    colours = [
        palette.colour(role, theme) for role in sorted({common.category_role(category) for category in CATEGORY_NAMES})
    ]
    assert len(set(colours)) == len(colours)
    assert least(colours)[0] >= APART, least(colours)


@pytest.mark.parametrize("theme", THEMES)
def test_curves_of_all_causes_are_told_apart(theme: palette.Theme) -> None:
    roles = [*(role for *_, role in CAUSES), STALL_CAUSE[-1], "latency"]
    assert least([palette.line_colour(role, theme) for role in roles])[0] >= 2 * APART
    assert least([palette.line_colour(role, theme) for role in roles], ("normal",))[0] >= 3 * APART


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("counts", [2, 3, 7, 10, 12])
def test_processor_counts_are_told_apart_in_order(theme: palette.Theme, counts: int) -> None:
    colours = [palette.colour(f"count:{place}/{counts}", theme) for place in range(counts)]
    assert least(colours)[0] >= APART, least(colours)
    lights = [float(lab(colour)[0]) for colour in colours]
    assert lights == sorted(lights)


@pytest.mark.parametrize("theme", THEMES)
def test_series_of_equal_rank_are_told_apart(theme: palette.Theme) -> None:
    assert least([palette.colour(f"series:{place}", theme) for place in range(7)])[0] >= APART
    assert least([palette.colour(f"series:{place}", theme) for place in range(14)], ("normal",))[0] >= APART
    assert len({palette.colour(f"series:{place}", theme) for place in range(20)}) == 20


def _drawn(panel: Panel) -> list[tuple[str, str]]:
    """Return everything in *panel* with a colour of its own: name and role."""
    if isinstance(panel, Plot):
        bars = panel.bars.series if panel.bars else ()
        lines = ((line.name, f"{DASHED if line.style == 'dashed' else LINE}{line.role}") for line in panel.lines)
        return [*lines, *((name, role) for name, role, _ in bars)]
    if isinstance(panel, Timeline):
        return [(key.name, key.colour or key.role) for key in panel.key]
    return [(one.name, one.role) for one in panel.polygons] if isinstance(panel, Radar) else []


def shown(role: str, theme: palette.Theme) -> str:
    """Return the colour of an area, or of a line."""
    line = role.startswith((LINE, DASHED))
    return palette.line_colour(plain(role), theme) if line else palette.colour(role, theme)


def plain(role: str) -> str:
    """Return *role* without its line prefix."""
    return role.removeprefix(LINE).removeprefix(DASHED)


def _alike(panels: Sequence[Panel], theme: palette.Theme) -> list[tuple[str, str, float]]:
    """Return the indistinguishable pairs in one panel: (nearly) the same colour and the same dash."""
    found = []
    for panel in panels:
        for (one, role), (other, its) in combinations(_drawn(panel), 2):
            turns = {max(palette.series_turn(plain(each)), each.startswith(DASHED)) for each in (role, its)}
            apart = ciede2000(lab(shown(role, theme)), lab(shown(its, theme)))
            if one != other and apart < APART and len(turns) == 1:
                found.append((one, other, round(apart, 1)))
    return found


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    full, threads = studies.full(), traces.threads()
    made = {name: view.build(full) for name, view in views.registry().items()}
    made |= {name: view.build(threads) for name, view in views.registry("trace").items()}
    for study, data in studies.few().items():
        made |= {f"{name} of {study}": view.build(data) for name, view in views.registry().items()}
    overlaid = {f"{name} with what-if": views.get(name).build(full, what_if=True) for name in ("time", "speedup")}
    return made | overlaid


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
def test_no_view_draws_two_things_in_colours_that_look_alike(theme: palette.Theme, figures: dict[str, Figure]) -> None:
    alike = {name: _alike(figure.panels, theme) for name, figure in figures.items()}
    assert not {name: pairs for name, pairs in alike.items() if pairs}


@pytest.mark.slow
def test_a_processor_count_has_one_colour_in_all_views(figures: dict[str, Figure]) -> None:
    roles: dict[str, set[str]] = {}
    for figure in (figure for name, figure in figures.items() if " of " not in name):  # views of a single study
        for panel in figure.panels:
            for name, role in _drawn(panel):
                if re.fullmatch(r"N = \d+", name):
                    roles.setdefault(name, set()).add(plain(role))
    assert len(roles) >= 5
    assert all(len(found) == 1 for found in roles.values()), roles
    assert len({next(iter(found)) for found in roles.values()}) == len(roles)


@pytest.mark.parametrize("theme", THEMES)
def test_every_line_shows_on_the_paper(theme: palette.Theme, figures: dict[str, Figure]) -> None:
    drawn = {role for figure in figures.values() for panel in figure.panels for _, role in _drawn(panel)}
    lines = [role for role in drawn if role.startswith((LINE, DASHED))]
    faint = [role for role in lines if palette.contrast(shown(role, theme), palette.paper(theme)) < 1.9]
    assert len(lines) > 10
    assert not faint


@pytest.mark.parametrize("taken", [(), ("ink",), ("time",), ("efficiency", "ink"), ("mark",)])
def test_rivals_of_a_curve_leave_its_colour_to_it(taken: tuple[str, ...]) -> None:
    roles = list(islice(palette.rivals(*taken), 12))
    assert not _alike([Plot(Axis("x"), Axis("y"), tuple(Line(r, (), (), r) for r in (*taken, *roles)))], "light")


@pytest.mark.parametrize("level", range(0, 256, 3))
def test_text_on_any_grey_is_read(level: int) -> None:
    back = f"#{level:02X}{level:02X}{level:02X}"
    light, dark = sorted((_luminance(back), _luminance(palette.legible_on(back))), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def _luminance(colour: str) -> float:
    return ((float(lab(colour)[0]) + 16) / 116) ** 3 if float(lab(colour)[0]) > 8 else float(lab(colour)[0]) / 903.3
