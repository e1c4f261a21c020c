"""A trace in the window: its handle, search, bookmarks and replay."""
