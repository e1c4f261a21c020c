"""Maps table rows to the selection: which rows it highlights, and what a click selects."""

from __future__ import annotations

from scalegraph.gui.state.loss import place_of_line, region_path
from scalegraph.gui.state.selection import Selection
from scalegraph.subjects.study import StudyData


def row_keys(data: StudyData | None, selection: Selection, study: str) -> tuple[str, ...]:
    """Return the keys of the rows to highlight: lines as ``f.c:7``, regions as ``2``, call paths as ``path:3``."""
    if data is None:
        return ()
    mine = selection.study in (None, study)
    region = selection.region if mine else None
    path = selection.call_path if region is None else region_path(data.regions, region)
    keys = [f"{selection.line[0]}:{selection.line[1]}"] if mine and selection.line is not None else []
    # a large study's call paths are not computed in Qt's thread
    known = data.measured if data.imported is not None or "_measured" in vars(data) else None
    if path is not None and known is not None and path in known.paths:
        number = known.paths.index(path)
        keys.append(f"path:{number}")
        if data.imported is not None:  # its tables number call paths
            keys.append(str(number))
        elif region is None:
            region = next((item.id for item in data.regions if region_path(data.regions, item.id) == path), None)
    return tuple(keys) if region is None else (*keys, str(region))


def selected_row(data: StudyData | None, key: str) -> dict[str, object]:
    """Return what a click on the row *key* selects."""
    number = key.removeprefix("path:")
    if data is None:
        return {}
    if not number.isdecimal():
        return place_of_line(data, key)
    if number == key and data.imported is None:
        return {"region": int(number)}
    paths = data.measured.paths if data.measured is not None else ()
    return {"call_path": paths[int(number)]} if int(number) < len(paths) else {}
