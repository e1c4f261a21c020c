"""What is in the dock of a view."""
