"""The monitor of real runs: a C library that is linked into native programs."""
