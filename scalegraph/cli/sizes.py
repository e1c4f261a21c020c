"""Amounts of memory on the command line: ``512M``, ``8G``, ``65536``."""

from __future__ import annotations

import re
from typing import Any

import click

_FORM = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_FACTOR = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
MINIMUM = 2**16
MAXIMUM = 2**44


class _Size(click.ParamType[int]):
    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return *value* in bytes."""
        if isinstance(value, int):
            return value
        match = _FORM.fullmatch(str(value).strip())
        if match is None:
            self.fail(f"'{value}': expected a size as in 512M or 8G", param, ctx)
        size = int(float(match[1]) * _FACTOR[match[2].upper()])
        if not MINIMUM <= size <= MAXIMUM:
            self.fail(f"'{value}': expected between 64K and 16T", param, ctx)
        return size


SIZE = _Size()
