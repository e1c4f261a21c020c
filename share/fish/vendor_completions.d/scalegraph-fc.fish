complete --command scalegraph-fc --wraps gfortran
