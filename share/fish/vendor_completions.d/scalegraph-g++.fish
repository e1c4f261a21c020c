complete --command scalegraph-g++ --wraps g++
