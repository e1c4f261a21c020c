"""The import page: what a file seems to hold, and what the user says about it."""
