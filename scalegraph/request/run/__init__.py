"""Carrying out requests: submission, sessions, runs from advice."""
