"""Tables that set simulated results beside published ones, for ``docs/make_validation.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from papers_tables import gauss
from papers_tables.studies import Studies

TABLES: Final[dict[str, Callable[[Studies], list[str]]]] = {
    "gauss-sizes": gauss.size_table,
    "gauss-matrix": gauss.matrix,
}
__all__ = ["TABLES", "Studies"]
