"""Commands of the window beyond their declaration: how they are found by words, grouped in menus, reached by keys."""
