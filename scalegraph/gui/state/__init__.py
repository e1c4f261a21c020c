"""What the window's user chose: selection, time window, bookmarks, what-if, replay. Nothing here draws."""
