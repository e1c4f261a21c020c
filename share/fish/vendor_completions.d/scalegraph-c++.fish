complete --command scalegraph-c++ --wraps g++
