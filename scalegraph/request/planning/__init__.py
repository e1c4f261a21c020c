"""What a request comes to: runs, their cost, searches, and the checks before anything starts."""
