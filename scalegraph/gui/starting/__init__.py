"""The start of the window, and its preloading."""
