"""A random user: seeded input to the real window, with every failure recorded."""
