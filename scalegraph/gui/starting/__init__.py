"""The start of the window, and what it loads ahead."""
