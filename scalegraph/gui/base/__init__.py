"""The base of the window: jobs, theme, widgets, undo, settings. Nothing here depends on studies."""
