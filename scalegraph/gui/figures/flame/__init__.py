"""Flame graphs on the screen."""
