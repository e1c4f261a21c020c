"""A request as the text of a TOML file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scalegraph.request.model.request import Request

_ORDER = ("title", "processors", "repetitions", "schedule", "program", "parameters", "scaling", "machine")


def toml_text(request: Request) -> str:
    """Return *request* as a TOML file that reads back equal; values at their default are omitted."""
    data = request.model_dump(mode="json", exclude_defaults=True)
    import tomlkit  # needed only for writing

    document = tomlkit.document()
    for key in (*_ORDER, *(key for key in data if key not in _ORDER)):
        if key not in data:
            continue
        item = data[key]
        if key in ("bound", "what_if"):
            tables = tomlkit.aot()
            kind = {"kind": "problem_size"} if key == "bound" else {}  # written even if it is the default
            for part in item:
                tables.append(_table({**kind, **part}))
            document.append(key, tables)
        elif isinstance(item, dict):
            document.append(key, _table(item))
        else:
            document.append(key, tomlkit.item(item))
    return tomlkit.dumps(document)


def _table(data: dict[str, Any]) -> Any:
    import tomlkit

    table = tomlkit.table()
    for key, value in data.items():
        if value is None:
            continue
        if isinstance(value, dict):
            inline = tomlkit.inline_table()
            inline.update(value)
            table.append(key, inline)
        else:
            table.append(key, value)
    return table
