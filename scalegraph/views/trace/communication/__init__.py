"""Messages and who talks to whom."""
