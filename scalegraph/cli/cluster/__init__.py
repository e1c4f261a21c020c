"""Runs elsewhere: option ``--on``, jobs that are written, and their collection."""
