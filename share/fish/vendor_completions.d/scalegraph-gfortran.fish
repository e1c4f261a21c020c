complete --command scalegraph-gfortran --wraps gfortran
