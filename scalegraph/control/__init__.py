"""The execution controller: builds programs and runs many points side by side."""

from scalegraph.control.adopt import adopt, run_build
from scalegraph.control.build import build
from scalegraph.control.execute import execute

__all__ = ["adopt", "build", "execute", "run_build"]
