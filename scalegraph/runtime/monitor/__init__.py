"""The monitor of real runs: a library in C that programs for this computer are linked with."""
