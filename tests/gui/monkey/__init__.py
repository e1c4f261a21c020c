"""A random user: seeded input over the real window, with everything that goes wrong taken note of."""
