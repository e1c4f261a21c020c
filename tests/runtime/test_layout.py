"""Records read by plain Python equal those that numpy reads."""

import numpy as np
import pytest

from scalegraph.runtime import format as runtime_format
from scalegraph.runtime.layout import Layout

LAYOUTS = {name: value for name, value in vars(runtime_format).items() if isinstance(value, Layout)}


def test_all_kinds_of_fields_are_among_the_layouts() -> None:
    kinds = {field[1] for layout in LAYOUTS.values() for field in layout.fields}
    assert kinds == {"u1", "<u2", "<u4", "<u8", "<i4", "S8", "S24"}


@pytest.mark.parametrize("name", LAYOUTS)
def test_rows_are_the_records_of_numpy(name: str) -> None:
    layout = LAYOUTS[name]
    data = np.random.default_rng(3).integers(0, 256, 5 * layout.itemsize, np.uint8).tobytes()
    data = data[: 4 * layout.itemsize] + bytes(layout.itemsize)
    records = np.frombuffer(data, layout)
    assert records.dtype.itemsize == layout.itemsize
    for row, record in zip(layout.rows(data), records, strict=True):
        assert tuple(row) == record.dtype.names
        for field, value in row.items():
            assert (list(value) if isinstance(value, tuple) else value) == record[field].tolist()


@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize("name", LAYOUTS)
def test_columns_are_the_fields_of_the_rows(name: str, count: int) -> None:
    layout = LAYOUTS[name]
    data = np.random.default_rng(4).integers(0, 256, count * layout.itemsize, np.uint8).tobytes()
    columns, rows = layout.columns(data), list(layout.rows(data))
    assert tuple(columns) == layout.names
    for field, column in columns.items():
        assert column == [row[field] for row in rows]


@pytest.mark.parametrize("name", LAYOUTS)
def test_series_are_the_same_on_a_host_of_the_other_byte_order(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = LAYOUTS[name]
    data = np.random.default_rng(5).integers(0, 256, 3 * layout.itemsize, np.uint8).tobytes()
    native = layout.series(data)
    monkeypatch.setattr("sys.byteorder", "big")
    assert layout.series(data) == native
