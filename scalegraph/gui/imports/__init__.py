"""The import page: how a file is interpreted, and the user's corrections."""
