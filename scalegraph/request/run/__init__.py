"""Carrying a request out: submitting runs, sessions, advice that runs."""
