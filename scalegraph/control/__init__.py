"""The execution controller: builds programs and runs many points in parallel."""

from scalegraph.control.adopt import adopt, run_build
from scalegraph.control.build import build
from scalegraph.control.execute import execute
from scalegraph.control.mpi_programs import links_mpi, sources_use_mpi

__all__ = ["adopt", "build", "execute", "links_mpi", "run_build", "sources_use_mpi"]
