"""Commands on several studies, and on what to run next."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.store import Manifest, Study

pytestmark = pytest.mark.slow


def _study(path: Path, serial: float, counts: tuple[int, ...] = (1, 2, 4, 8)) -> Path:
    """Return a study of runs with T = serial + (1 - serial)/N s and 1 % noise."""
    noise = random.Random(1)
    with Study.create(path, Manifest.new(program=path.stem, machine="m")) as made:
        for n in counts:
            for repetition in range(3):
                time = (serial + (1 - serial) / n) * (1 + 0.01 * noise.gauss(0, 1))
                point = RunPoint(processors=n, parameters={"n": 100}, repetition=repetition)
                made.add_run(RunRecord(source="measured", program=path.stem, machine="m", point=point, time_s=time))
    return path


def test_two_studies_in_one_table_and_one_picture(call: Any, tmp_path: Path) -> None:
    first, second = _study(tmp_path / "a.sgstudy", 0.2), _study(tmp_path / "b.sgstudy", 0.01)
    code, out, _ = call("compare", first, second, "--option", "quantity=efficiency")
    assert code == 0
    assert "On 8 processors b has the better efficiency" in out
    code, out, _ = call("compare", first, second, "--json")
    assert [panel["kind"] for panel in json.loads(out)["panels"]] == ["plot", "table"]
    picture = tmp_path / "c.svg"
    assert call("compare", first, second, "-o", picture)[0] == 0
    assert picture.read_text(encoding="utf-8").startswith("<?xml")


def test_one_study_cannot_be_compared(call: Any, tmp_path: Path) -> None:
    code, _, err = call("compare", _study(tmp_path / "a.sgstudy", 0.2))
    assert code == 2
    assert "two or more studies were expected, got 1" in err
    code, _, err = call("compare", tmp_path / "a.sgstudy", tmp_path / "a.sgstudy", "--view", "speedup")
    assert code == 2
    assert "is not a view of several studies" in err


def test_advice_names_the_next_run(call: Any, tmp_path: Path) -> None:
    study = _study(tmp_path / "a.sgstudy", 0.1)
    code, out, _ = call("advise", study, "--at", "64", "--json")
    made = json.loads(out)
    assert code == 0
    assert made["target"] == {"processors": 64}
    assert made["time_s"] == pytest.approx(0.1 + 0.9 / 64, rel=0.3)
    assert made["next"][0]["width_then"] < made["next"][0]["width"]
    assert made["next"][0]["processors"] > 2
    code, out, _ = call("advise", study)
    assert "predicted time at N = 16" in out


def test_measurements_alone_cannot_be_run(call: Any, tmp_path: Path) -> None:
    study = _study(tmp_path / "a.sgstudy", 0.1)
    code, _, err = call("advise", study, "--run")
    assert code == 2
    assert "holds no program that could be run" in err


def test_two_counts_give_no_advice(call: Any, tmp_path: Path) -> None:
    code, _, err = call("advise", _study(tmp_path / "a.sgstudy", 0.1, (1, 2)))
    assert code == 1
    assert "three or more processor counts" in err


@pytest.mark.compiler
def test_the_advised_point_is_run_into_the_study(call: Any, tmp_path: Path) -> None:
    request = tmp_path / "r.toml"
    request.write_text(
        'processors = [1, 2, 4, 8, 16]\n[program]\nname = "ge2"\n[parameters]\nn = 60\n[[bound]]\n', "utf-8"
    )
    study = tmp_path / "r.sgstudy"
    assert call("run", request, "-o", study, "--quiet")[0] == 0
    with Study.open(study) as before:
        manifest = before.manifest
        runs = len(before)
    code, out, _ = call("advise", study, "--at", "64", "--most", "32", "--run", "--json")
    assert code == 0
    ran = json.loads(out)["ran"]
    assert len(ran) == 1
    with Study.open(study) as after:
        assert len(after) == runs + 1
        assert ran[0]["processors"] in [run.point.processors for run in after.runs()]
        assert after.manifest.request == manifest.request


def test_assertions_decide_the_exit_code(call: Any, tmp_path: Path) -> None:
    study, junit = _study(tmp_path / "a.sgstudy", 0.1), tmp_path / "j.xml"
    code, _, err = call("analyze", study, "--assert", "E(8) > 0.5", "--junit", junit)
    assert code == 0
    assert "passed: E(8) > 0.5 (E(8) = " in err
    code, out, err = call("analyze", study, "--what", "efficiency", "--assert", "E(8) > 0.9", "--junit", junit)
    assert code == 1
    assert "failed: E(8) > 0.9" in err
    assert "efficiency" in out
    assert 'failures="1"' in junit.read_text(encoding="utf-8")
    code, _, err = call("analyze", study, "--assert", "E(8")
    assert code == 2
    assert "is not a statement" in err
    assert call("analyze", study, "--assert", "E(7) > 0")[0] == 1


def test_a_report_is_one_file(call: Any, tmp_path: Path) -> None:
    study, page = _study(tmp_path / "a.sgstudy", 0.1), tmp_path / "r.html"
    code, out, err = call("report", study, "-o", page, "--views", "speedup", "--assert", "E(8) > 0.9")
    assert code == 1
    assert "failed" in err
    assert str(page) in out
    assert "E(8) &gt; 0.9" in page.read_text(encoding="utf-8")
    code, _, err = call("report", study, "-o", tmp_path / "r.txt")
    assert code == 2
    assert "an ending of .html or .pdf was expected" in err
