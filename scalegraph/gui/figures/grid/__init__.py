"""Matrices in cells."""
