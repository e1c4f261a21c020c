complete --command scalegraph-cc --wraps gcc
