"""Planning of a request: runs, their cost, searches, and the checks before anything starts."""
