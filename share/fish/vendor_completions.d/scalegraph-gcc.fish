complete --command scalegraph-gcc --wraps gcc
