"""The C side of a machine's values: fields, ranges, names and table of networks, generated from `scalegraph.machine`.

A test fails when the committed header differs from what this module would write::

    python -m scalegraph.runtime.machine_source > scalegraph/runtime/csrc/ground/sg_machine.h
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, TextIO, get_args

from pydantic import BaseModel

from scalegraph.machine.fields import Given, On, declared, given, unit_of
from scalegraph.machine.interconnects import interconnects
from scalegraph.machine.kinds import kind_of
from scalegraph.machine.model import LATER, LATER_OF_LEVELS, OPTIONAL, SECTIONS, Cache, Machine
from scalegraph.machine.networks import networks

_WIDEST = 2**32 - 1
_LAST = "{NULL, 0, 0, 0}"
_TABLES = ("processor.operation_cycles", "network")  # whose values the runtime keeps in tables of its own


def _section(path: str) -> type[BaseModel]:
    """Return the model at a dotted path of `Machine`."""
    model: Any = Machine
    for part in path.split("."):
        model = model.model_fields[part].annotation
    return model  # type: ignore[no-any-return]


def _kind(one: Given) -> str:
    """Return the macro for a field, by its C type."""
    if one.enum[0]:
        return "NAME"
    return "REAL" if one.real else "U32" if one.most <= _WIDEST else "U64"


def _comment(model: type[BaseModel], name: str) -> str:
    unit = unit_of(model, name)
    return f"{model.model_fields[name].description}{f' [{unit}]' if unit else ''}"


def _number(value: float) -> str:
    return f"{round(value)}" + ("ull" if value > _WIDEST else "")


def _row(model: type[BaseModel], name: str, one: Given, prefix: str) -> str:
    key = f"{prefix}{one.key}"
    member = key.removesuffix(".kind").replace(".", "_")
    kind = _kind(one)
    more = f"{_number(one.least)}, {_number(one.most)}"
    if kind == "NAME":
        more = f"{one.enum[0]}, SG_{one.enum[1]}_NAMES"
    return f'{kind}({member}, "{key}", {more}) /* {_comment(model, name)} */'


def _macro(out: TextIO, name: str, rows: Iterator[str]) -> None:
    out.write(f"#define {name}(U32, U64, REAL, NAME) \\\n    " + " \\\n    ".join(rows) + "\n\n")


def _machine_rows() -> Iterator[str]:
    yield 'U32(levels, "levels", 1, SG_MAX_LEVELS) /* of caches */'
    for path, prefix in SECTIONS.items():
        if path not in _TABLES:
            model = _section(path)
            yield from (_row(model, name, one, prefix) for name, one in declared(model))


def _enums(out: TextIO) -> None:
    sections: list[type[BaseModel]] = [Cache, *(_section(path) for path in SECTIONS if path not in _TABLES)]
    for model in sections:
        for name, one in declared(model):
            if one.enum[0]:
                names, (kind, prefix) = get_args(model.model_fields[name].annotation), one.enum
                members = ", ".join(f"SG_{prefix}_{member.upper()}" for member in names)
                texts = ", ".join(f'"{member}"' for member in names)
                out.write(f"enum {kind} {{ {members} }};\n#define SG_{prefix}_NAMES {{{texts}, NULL}}\n")


def _networks(out: TextIO) -> None:
    kinds = [kind_of(network) for network in networks()]
    out.write(f"\nenum sg_network {{ {', '.join(f'SG_NET_{kind.upper()}' for kind in kinds)} }};\n")
    out.write(f"#define SG_NETWORKS(X) {' '.join(f'X({kind})' for kind in kinds)}\n\n")
    for network in networks():
        _parameters(out, f"SG_{kind_of(network).upper()}_PARAMETERS", [*_parameter_rows(network), _LAST])


def _parameter_rows(model: type[BaseModel]) -> list[str]:
    """Return the parameters of a kind of network or interconnect."""
    later = getattr(model, "later", ())
    rows = []
    for name, one in declared(model):
        values = f'"{one.key}", {_number(one.least)}, {_number(one.most)}, {int(name in later)}'
        rows.append(f"{{{values}}}, /* {_comment(model, name)} */")
    return rows


def _parameters(out: TextIO, macro: str, rows: Sequence[str]) -> None:
    out.write(f"#define {macro} \\\n    " + " \\\n    ".join(rows) + "\n\n")


def _interconnects(out: TextIO) -> None:
    kinds = [kind_of(wire) for wire in interconnects()]
    members = ", ".join(f"SG_WIRE_{kind.upper()}" for kind in ("none", *kinds))
    out.write(f"enum sg_wire_kind {{ {members} }};\n")
    out.write(f"#define SG_WIRES(X) {' '.join(f'X({kind})' for kind in kinds)}\n\n")
    every = [_parameter_rows(wire) for wire in interconnects()]
    shared = [rows[0] for rows in takewhile(lambda rows: len(set(rows)) == 1, zip(*every, strict=False))]
    _parameters(out, "SG_WIRE_PARAMETERS", shared)
    for kind, rows in zip(kinds, every, strict=True):
        _parameters(out, f"SG_WIRE_{kind.upper()}_PARAMETERS", ["SG_WIRE_PARAMETERS", *rows[len(shared) :], _LAST])


def _left_out(model: type[BaseModel], names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield (key, value): the runtime's value for each of the fields *names* of *model* that is not configured."""
    for name, one in declared(model):
        if name in names:
            default = model.model_fields[name].default
            yield one.key, default if one.enum[0] else one.convert(default, On(model, 1e9, 1))


def _defaults(out: TextIO) -> None:
    """Write the defaults for keys that a configuration may leave out."""
    out.write("/* Keys that a configuration may leave out, and their values then. */\n#define SG_MACHINE_DEFAULTS \\\n")
    defaults = [(path, key, value) for path in OPTIONAL for key, value in given(_section(path)(), 1e9, 1).items()]
    defaults += [(path, key, value) for path, names in LATER.items() for key, value in _left_out(_section(path), names)]
    out.writelines(f'    {{"machine.{SECTIONS[path]}{key}", "{value}"}}, \\\n' for path, key, value in defaults)
    out.write("\n/* The same of a cache level. */\n#define SG_LEVEL_DEFAULTS \\\n")
    out.writelines(f'    {{"{key}", "{value}"}}, \\\n' for key, value in _left_out(Cache, LATER_OF_LEVELS))
    out.write("\n")


def write_header(out: TextIO) -> None:
    """Write the C header that corresponds to the machine model to *out*."""
    limits = Machine.model_fields["cache"].metadata
    most = next(item.max_length for item in limits if hasattr(item, "max_length"))
    out.write("/* Generated by `python -m scalegraph.runtime.machine_source`; do not edit. */\n")
    out.write("#ifndef SG_MACHINE_H\n#define SG_MACHINE_H\n\n")
    out.write(f"#define SG_MAX_LEVELS {most}\n\n")
    _enums(out)
    _networks(out)
    _interconnects(out)
    _defaults(out)
    out.write("/* Fields of a configuration: member, key, and range or (enum, names). */\n")
    _macro(out, "SG_MACHINE_FIELDS", _machine_rows())
    _macro(out, "SG_LEVEL_FIELDS", (_row(Cache, name, one, "") for name, one in declared(Cache)))
    operations = dict(declared(_section("processor.operation_cycles")))
    out.write(f"#define SG_MOST_OP_COST {_number(max(one.most for one in operations.values()))}\n\n")
    out.write("#endif\n")


if __name__ == "__main__":
    write_header(sys.stdout)
