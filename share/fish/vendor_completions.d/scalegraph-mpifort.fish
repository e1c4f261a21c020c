complete --command scalegraph-mpifort --wraps gfortran
