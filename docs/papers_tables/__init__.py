"""Tables that set simulated results beside published ones, for ``docs/make_validation.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from papers_tables import gauss, others, six
from papers_tables.studies import Studies

TABLES: Final[dict[str, Callable[[Studies], list[str]]]] = {
    "gauss-sizes": gauss.size_table,
    "gauss-matrix": gauss.matrix,
    "six-sizes": six.size_table,
    "six-matrix": six.matrix_table,
    "ksr-programs": others.flows,
    "loops": others.loops,
    "billiard": others.billiard,
    "billiard-sizes": others.billiard_sizes,
}
__all__ = ["TABLES", "Studies"]
