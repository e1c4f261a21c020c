"""The page that measures a command as it is: its fields, and its points with intervals as they come."""
