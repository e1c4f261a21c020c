"""The documentation builds into a site without a warning: all pages are in the menu, all links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("material", reason="needs mkdocs-material: pip install 'scalegraph[docs]'")
    place = tmp_path_factory.mktemp("site")
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(place)]
    quiet = {"NO_MKDOCS_2_WARNING": "1"}  # an advertisement for another generator
    done = subprocess.run(command, cwd=root, env={**os.environ, **quiet}, capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return place


@pytest.mark.slow
def test_the_site_has_the_pages_that_are_made_from_the_code(site: Path) -> None:
    pages = {path.stem: path.read_text() for path in (site / "reference").glob("*.html")}
    assert set(pages) == {"commands", "machine-keys", "request-keys", "python", "views"}
    assert "--no-reference" in pages["commands"]
    assert "scalegraph trace convert" in pages["commands"]
    assert "hop_cycles" in pages["machine-keys"]
    assert "retry_cycles" in pages["machine-keys"]
    assert "max_runs" in pages["request-keys"]
    assert "Costs by line need a simulated run with lines collected." in pages["views"]
    assert "scalegraph.load" in pages["python"]
    assert "scalegraph.analyze" in pages["python"]


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_of_pages_outside_the_site_lead_somewhere(name: str, root: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)", (root / name).read_text())
    assert [link for link in links if "://" not in link and not (root / link).exists()] == []


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text()
        for mark in ('<script src="http', '<link rel="stylesheet" href="http', "fonts.googleapis", '<img src="http'):
            assert mark not in text, f"{path}: {mark}"
