"""The page that measures a command as it is: its fields, and the points with intervals as they arrive."""
