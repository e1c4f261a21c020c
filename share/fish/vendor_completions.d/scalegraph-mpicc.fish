complete --command scalegraph-mpicc --wraps gcc
