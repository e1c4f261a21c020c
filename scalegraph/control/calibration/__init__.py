"""Calibration of this host: measures it, writes its machine file, and compares predictions with measurements."""

from scalegraph.control.calibration.compare import Row, Subject, Summary, compare, summary
from scalegraph.control.calibration.derive import derive
from scalegraph.control.calibration.host import Host, this_host
from scalegraph.control.calibration.measure import QUICK, Effort, Sample, measure

__all__ = [
    "QUICK",
    "Effort",
    "Host",
    "Row",
    "Sample",
    "Subject",
    "Summary",
    "compare",
    "derive",
    "measure",
    "summary",
    "this_host",
]
