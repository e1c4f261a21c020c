"""Diagrams: shapes and names on a plane that can be panned and zoomed."""
