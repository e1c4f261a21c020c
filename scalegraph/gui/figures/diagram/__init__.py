"""Diagrams: shapes and names on a plane that can be moved and zoomed."""
