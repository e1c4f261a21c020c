"""Messages: senders, receivers, sizes."""
