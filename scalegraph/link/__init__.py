"""How bytes and processes reach a target: here the simulated one."""

from scalegraph.link.build import Build, BuiltSource, Limits
from scalegraph.link.simulated import Simulated
from scalegraph.link.tracing import TraceOrder

__all__ = ["Build", "BuiltSource", "Limits", "Simulated", "TraceOrder"]
