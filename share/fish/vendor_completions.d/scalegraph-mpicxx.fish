complete --command scalegraph-mpicxx --wraps g++
