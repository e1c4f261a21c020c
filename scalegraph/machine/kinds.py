"""Kinds of a machine part: each is declared by a module of a package."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, TypeVar, get_args

from pydantic import BaseModel

Kind = TypeVar("Kind", bound=BaseModel)


def kinds(base: type[Kind], package: str, path: Iterable[str]) -> tuple[type[Kind], ...]:
    """Return the subclasses of *base* declared by the modules of *package*, sorted by kind."""
    for module in pkgutil.iter_modules(path):
        import_module(f"{package}.{module.name}")
    found = {kind_of(kind): kind for kind in _below(base) if kind_of(kind)}
    return tuple(found[kind] for kind in sorted(found))


def _below(base: type[Kind]) -> Iterator[type[Kind]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _below(kind)


def kind_of(kind: type[BaseModel]) -> str:
    """Return the name of a kind in machine files; an empty string for a class shared by several kinds."""
    annotation: Any = kind.model_fields["kind"].annotation
    return str(next(iter(get_args(annotation)), ""))
