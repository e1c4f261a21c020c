"""Asks before running code that the user did not write here."""
