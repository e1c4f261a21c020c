"""Extra-P's sample files: valid ones load with the numbers that Extra-P itself loads, faulty ones are refused.

The expected numbers were computed once with Extra-P 4.2.5. Its files are not part of the repository:
``SCALEGRAPH_DATA`` names the directory that holds them; the default is ``../shared/data`` next to the checkout.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import recognised

# file: parameters, points, call paths, metrics, values, sum of the values
KNOWN = {
    "json/input_1.JSON": (1, 5, 1, 1, 25, 347.5),
    "json/input_10.JSON": (4, 625, 1, 1, 3125, 5124375.0),
    "json/input_12.JSON": (2, 25, 1, 1, 125, 204975.0),
    "json/input_2.JSON": (1, 5, 1, 2, 50, 81990.0),
    "json/input_3.JSON": (1, 5, 2, 1, 50, 81990.0),
    "json/input_4.JSON": (1, 5, 2, 2, 100, 163980.0),
    "json/input_5.JSON": (2, 25, 1, 1, 125, 204975.0),
    "json/input_6.JSON": (2, 25, 1, 2, 250, 409950.0),
    "json/input_7.JSON": (2, 25, 2, 1, 250, 409950.0),
    "json/input_8.JSON": (2, 25, 2, 2, 500, 819900.0),
    "json/input_9.JSON": (3, 125, 1, 1, 625, 1024875.0),
    "json/new/input1.json": (1, 5, 1, 1, 25, 347.5),
    "json/new/input2.json": (2, 5, 2, 2, 60, 745.0),
    "jsonlines/band_matrix_2p.jsonl": (2, 14, 1, 1, 70, 85642.3743810975),
    "jsonlines/complete_matrix_2p.jsonl": (2, 25, 1, 1, 125, 62299.14064690115),
    "jsonlines/cross_matrix_2p.jsonl": (2, 9, 1, 1, 45, 50476.20718660936),
    "jsonlines/extended1.jsonl": (2, 25, 1, 1, 125, 1750.0),
    "jsonlines/extended2.jsonl": (2, 9, 1, 1, 45, 300.0),
    "jsonlines/incomplete_matrix_2p.jsonl": (2, 7, 1, 1, 35, 11177.062120160876),
    "jsonlines/input_1.jsonl": (2, 25, 1, 1, 125, 1663326617.4568288),
    "jsonlines/matrix_3p.jsonl": (3, 13, 1, 1, 15, 15.0),
    "jsonlines/matrix_3p_bands.jsonl": (3, 17, 1, 1, 17, 40.0),
    "jsonlines/matrix_3p_bands_incomplete.jsonl": (3, 18, 1, 1, 18, 43.0),
    "jsonlines/matrix_4p.jsonl": (4, 17, 1, 1, 20, 20.0),
    "jsonlines/reduced.jsonl": (2, 25, 1, 1, 125, 1750.0),
    "jsonlines/sparse_matrix_2p.jsonl": (2, 25, 1, 1, 125, 100018.81895459729),
    "jsonlines/test1.jsonl": (2, 25, 1, 1, 125, 1750.0),
    "jsonlines/test2.jsonl": (2, 25, 1, 1, 125, 714393814.2403928),
    "talpas/talpas_1.txt": (1, 5, 1, 1, 25, 9049.680687939448),
    "talpas/talpas_2.txt": (2, 25, 1, 1, 125, 62299.14064690115),
    "talpas/talpas_3.txt": (3, 125, 1, 1, 125, 8237860000.0),
    "talpas/talpas_4.txt": (3, 125, 1, 1, 125, 8237860000.0),
    "talpas/talpas_5.txt": (4, 625, 1, 1, 625, 106202814.56638353),
    "talpas/talpas_6.txt": (1, 5, 2, 1, 50, 18099.361375878896),
    "talpas/talpas_7.txt": (1, 5, 1, 2, 50, 18099.361375878896),
    "talpas/talpas_8.txt": (1, 5, 2, 2, 100, 36198.72275175779),
    "talpas/talpas_9.txt": (2, 25, 2, 2, 500, 249196.56258760454),
    "text/mpa/1_param_add.txt": (1, 5, 1, 1, 10, 6181.276),
    "text/mpa/1_param_base.txt": (1, 3, 1, 1, 6, 3064.929),
    "text/mpa/1_param_base2.txt": (1, 4, 1, 1, 8, 4664.929),
    "text/mpa/1_param_base3.txt": (1, 4, 1, 1, 8, 4664.929),
    "text/mpa/1_param_base4.txt": (1, 3, 1, 1, 6, 3064.929),
    "text/mpa/1_param_base5.txt": (1, 3, 1, 1, 6, 3064.929),
    "text/mpa/1_param_base6.txt": (1, 3, 1, 1, 6, 3064.929),
    "text/mpa/1_param_base7.txt": (1, 4, 1, 1, 8, 4298.107),
    "text/mpa/1_param_base8.txt": (1, 4, 1, 1, 8, 4298.107),
    "text/mpa/1_param_gpr.txt": (1, 6, 1, 1, 12, 7330.365),
    "text/mpa/2_param_add.txt": (2, 9, 1, 1, 18, 12557.017000000002),
    "text/mpa/2_param_add2.txt": (2, 9, 3, 1, 54, 13647.017000000002),
    "text/mpa/2_param_base.txt": (2, 7, 1, 1, 14, 8764.734),
    "text/mpa/2_param_base2.txt": (2, 7, 1, 1, 14, 8764.734),
    "text/mpa/2_param_base3.txt": (2, 7, 1, 1, 14, 8764.734),
    "text/mpa/2_param_gpr.txt": (2, 10, 1, 1, 20, 14921.657000000003),
    "text/mpa/2_param_gpr2.txt": (2, 10, 3, 1, 60, 18221.657000000003),
    "text/mpa/3_param_add.txt": (3, 13, 1, 1, 26, 20758.777),
    "text/mpa/3_param_base.txt": (3, 10, 1, 1, 20, 11200.967999999999),
    "text/mpa/3_param_gpr.txt": (3, 14, 1, 1, 28, 24380.217),
    "text/mpa/4_param_add.txt": (4, 17, 1, 1, 34, 28960.536999999993),
    "text/mpa/4_param_base.txt": (4, 13, 1, 1, 26, 13637.201999999997),
    "text/mpa/4_param_gpr.txt": (4, 18, 1, 1, 36, 33838.777),
    "text/mpa/gpr_test_data_1.txt": (1, 4, 2, 2, 64, 9776.202942943703),
    "text/mpa/gpr_test_data_2.txt": (1, 5, 2, 2, 80, 16562.157864015368),
    "text/mpa/relearn_data.txt": (2, 25, 14, 1, 700, 313934.8906346079),
    "text/one_parameter_1.txt": (1, 5, 1, 1, 30, 10864.157864015368),
    "text/one_parameter_2.txt": (1, 5, 15, 1, 375, 135745.2103190917),
    "text/one_parameter_3.txt": (1, 5, 1, 2, 50, 18099.361375878896),
    "text/one_parameter_4.txt": (1, 5, 1, 2, 50, 18099.361375878896),
    "text/one_parameter_5.txt": (1, 5, 2, 2, 100, 36198.72275175779),
    "text/one_parameter_6.txt": (1, 5, 4, 1, 89, 1023003358.01),
    "text/one_parameter_7.txt": (1, 5, 1, 1, 25, 101.7),
    "text/one_parameter_segmented_1.txt": (1, 10, 1, 1, 50, 1225.0),
    "text/one_parameter_segmented_2.txt": (1, 10, 1, 1, 50, 26484.53445297804),
    "text/one_parameter_segmented_3.txt": (1, 10, 1, 1, 50, 1199415.4786113282),
    "text/one_parameter_segmented_4.txt": (1, 10, 2, 1, 100, 2450.0),
    "text/one_parameter_segmented_5.txt": (1, 9, 3, 1, 79, 338.70000000000005),
    "text/one_parameter_segmented_6.txt": (1, 10, 2, 1, 52, 278.79999999999995),
    "text/strong_scaling/one_parameter_1.txt": (1, 5, 1, 1, 30, 10864.157864015368),
    "text/strong_scaling/one_parameter_2.txt": (1, 5, 15, 1, 375, 135745.2103190917),
    "text/strong_scaling/one_parameter_6.txt": (1, 5, 4, 1, 89, 1023003358.01),
    "text/strong_scaling/two_parameter_1.txt": (2, 25, 1, 1, 125, 62299.14064690115),
    "text/strong_scaling/two_parameter_2.txt": (2, 25, 1, 1, 125, 62299.14064690115),
    "text/strong_scaling/two_parameter_7.txt": (2, 25, 1, 1, 125, 65459.06579031),
    "text/three_parameter_1.txt": (3, 125, 1, 1, 625, 8559415.331432886),
    "text/three_parameter_2.txt": (3, 125, 1, 1, 625, 8559415.331432886),
    "text/three_parameter_3.txt": (3, 125, 2, 1, 1250, 17118830.662865773),
    "text/two_parameter_1.txt": (2, 25, 1, 1, 125, 62299.14064690115),
    "text/two_parameter_2.txt": (2, 25, 1, 1, 125, 62299.14064690115),
    "text/two_parameter_3.txt": (2, 25, 2, 2, 500, 249196.56258760454),
    "text/two_parameter_4.txt": (2, 5, 4, 1, 89, 1023003358.01),
    "text/two_parameter_5.txt": (2, 25, 1, 1, 25, 2039.0000000000002),
    "text/two_parameter_6.txt": (2, 25, 1, 1, 25, 2789.9453857099998),
    "text/two_parameter_7.txt": (2, 25, 3, 1, 75, 5878.945385709999),
    "text/two_parameter_segmented_1.txt": (2, 60, 1, 1, 300, 4116072.08),
}
FAULTY = {
    "json/input_11.JSON": "metric 'time' of 'sweep': measured at 4 of 5 points",
    "talpas/talpas_10_neg.txt": "metric 'flops' of 'compute': measured at 3 of 5 points",
}

# Extra-P sums over the locations for strong scaling; only metrics that the file itself has
CUBES = {
    "multi_parameter": (3, 27, 4, 7, 756, 117063.00234964001),
    "single_parameter": (3, 9, 4, 7, 252, 18348.000830155),  # Extra-P leaves out two constant parameters
    "simple_threaded": (1, 5, 5, 2, 45, 1183.0),
}


@pytest.fixture(scope="session")
def samples(root: Path) -> Path:
    data = Path(os.environ.get("SCALEGRAPH_DATA", root.parent / "shared" / "data"))
    if not (data / "extrap").is_dir():
        pytest.skip("Extra-P's sample files are not here: set SCALEGRAPH_DATA")
    return data


def load(path: Path) -> MeasurementSet:
    reader, *others = recognised(path)
    assert {other.name for other in others} <= {"table"}, f"{path.name} is not only recognised by {reader.name}"
    return reader.read(path, CancelToken(), lambda _: None)


def numbers(found: MeasurementSet) -> tuple[int, int, int, int, int]:
    values = found.values
    names = len(found.parameters), len(found.points), values["call_path"].nunique(), values["metric"].nunique()
    return (*names, len(values))


def test_valid_files_load_as_in_extra_p(samples: Path) -> None:
    for name, known in KNOWN.items():
        found = load(samples / "extrap" / name)
        assert numbers(found) == known[:5], name
        assert found.values["value"].sum() == pytest.approx(known[5], rel=1e-12), name
        assert not found.skipped, name


@pytest.mark.parametrize("name", FAULTY)
def test_faulty_files_are_refused_with_their_reason(samples: Path, name: str) -> None:
    path = samples / "extrap" / name
    with pytest.raises(InputError) as refusal:
        load(path)
    assert str(refusal.value).startswith(f"{path}: {FAULTY[name]}")


def own_values(found: MeasurementSet) -> pd.DataFrame:
    """Return the values stored in the profiles themselves, without those computed for several threads."""
    made = ("_max", "_mean", "elapsed", "locations", "busy", "busiest")
    own = [not metric.name.endswith(made) for metric in found.metrics]
    return found.values[[own[metric] for metric in found.values["metric"]]]


def test_cube_directories_load_as_in_extra_p(samples: Path) -> None:
    for name, known in CUBES.items():
        found = load(samples / "cube" / name)
        values = own_values(found)
        assert numbers(replace(found, values=values)) == known[:5], name
        assert values["value"].sum() == pytest.approx(known[5], rel=1e-12), name
        assert {each.what for each in found.skipped} <= {"metric bytes_put", "metric bytes_get"}


def test_cube_directories_of_other_parameters_are_refused(samples: Path) -> None:
    with pytest.raises(InputError, match=r"x10y1z1: its name holds the parameters x, y, z; expected x, y, wrong"):
        load(samples / "cube" / "negative_example")


def test_cube_values_of_threads_give_their_largest_and_average(samples: Path) -> None:
    found = load(samples / "cube" / "simple_threaded")
    foo = found.paths.index("main->foo")
    assert (found.call_paths[foo].file, found.call_paths[foo].line) == ("example.c", 1)
    names = ("time", "time_max", "time_mean", "elapsed")
    assert [found.grid(found.metric(name))[foo, 1, 0] for name in names] == pytest.approx([19.8, 10.0, 4.95, 10.0])
    assert list(found.grid(found.metric("locations"))[0, :, 0]) == [4] * 5


def test_one_cube_profile_is_one_point(samples: Path) -> None:
    found = load(samples / "cube" / "single_parameter" / "mm.x25y1z1.r1" / "profile.cubex")
    assert found.points.to_dict("records") == [{"x": 25, "y": 1, "z": 1}]
    assert numbers(replace(found, values=own_values(found)))[2:] == (4, 7, 28)


def test_no_sample_is_left_out(samples: Path) -> None:
    present = {str(path.relative_to(samples / "extrap")) for path in samples.glob("extrap/**/*") if path.is_file()}
    assert present == {*KNOWN, *FAULTY}
