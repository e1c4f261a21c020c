"""The user's choices in the window: selection, time window, bookmarks, what-if, replay. Draws nothing."""
