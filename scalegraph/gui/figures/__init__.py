"""Figures on the screen, one panel per kind."""
