"""Commands beyond their declaration: search by words, menu groups, keys."""
