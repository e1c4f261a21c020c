"""Tables of figures."""
