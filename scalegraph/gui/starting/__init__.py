"""What the window does before it can be used, and what it loads ahead."""
