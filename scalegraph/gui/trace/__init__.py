"""A trace in the window: its handle, search, bookmarks, replay."""
