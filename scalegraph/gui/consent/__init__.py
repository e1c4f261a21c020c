"""Asking before code runs that the user did not write here."""
