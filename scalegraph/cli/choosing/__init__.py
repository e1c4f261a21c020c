"""``scalegraph choose``: which point of a study to take."""
