"""``scalegraph measure``, and the options of targets."""
