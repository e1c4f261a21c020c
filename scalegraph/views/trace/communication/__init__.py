"""Messages: senders, receivers and sizes."""
