"""Machine descriptions: validated TOML files, and the configuration derived from them for the simulator."""

from scalegraph.machine.files import MachineSummary, available, load, read, shipped_names
from scalegraph.machine.model import Machine
from scalegraph.machine.text import FieldRow, describe

__all__ = ["FieldRow", "Machine", "MachineSummary", "available", "describe", "load", "read", "shipped_names"]
