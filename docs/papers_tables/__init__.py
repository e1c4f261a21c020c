"""Tables that compare simulated results with published ones, for ``docs/make_validation.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from papers_tables import (
    cerberus,
    data_parallel,
    gauss,
    host,
    isospeed,
    maspar,
    others,
    prediction_figures,
    predictions,
    schedules,
    six,
)
from papers_tables.studies import Studies

TABLES: Final[dict[str, Callable[[Studies], list[str]]]] = {
    "gauss-sizes": gauss.size_table,
    "gauss-matrix": gauss.matrix,
    "gauss-accounts": gauss.accounts,
    "six-sizes": six.size_table,
    "six-matrix": six.matrix_table,
    "cerberus": cerberus.table,
    "cerberus-latency": cerberus.latencies,
    "ksr-programs": others.flows,
    "loops": others.loops,
    "billiard": others.billiard,
    "billiard-sizes": others.billiard_sizes,
    "billiard-parallelism": others.parallelism,
    "burg-psi": isospeed.burg_table,
    "burg-times": isospeed.burg_times,
    "slalom-psi": isospeed.slalom_table,
    "slalom-runs": isospeed.slalom_runs,
    "maspar-burg": maspar.burg,
    "maspar-slalom": maspar.slalom,
    "predicted-data-parallel": data_parallel.gauss,
    "predicted-fields": data_parallel.scattering,
}
HOST: Final = {"host": host.table}  # depends on this computer
LONG: Final = {
    "schedules": schedules.times,
    "schedules-alpha": schedules.alpha,
    "schedules-many": schedules.many,
    "predicted-gauss": predictions.gauss,
    "predicted-paths": predictions.paths,
    "predicted-scattering": predictions.scattering,
}  # an hour and a half on one core
__all__ = ["HOST", "LONG", "TABLES", "Studies", "prediction_figures", "schedules"]
