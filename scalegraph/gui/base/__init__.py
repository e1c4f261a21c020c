"""What every part of the window uses: jobs, theme, widgets, undo, settings. Nothing here knows a study."""
