"""Messages of a run: what they cost, and how the interconnect is loaded."""
