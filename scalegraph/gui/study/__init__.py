"""A study in the window: its page, navigator, call tree and headline."""
