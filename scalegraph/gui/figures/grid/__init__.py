"""Matrices drawn as cells."""
