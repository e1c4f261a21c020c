"""Fortran's MPI: bindings, ``mpif.h`` and the modules ``mpi`` and ``mpi_f08``, all generated from ``mpi.h``."""
