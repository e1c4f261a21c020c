"""The Inspector: what a value is and where it comes from."""
