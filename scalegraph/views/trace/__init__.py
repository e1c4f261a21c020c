"""Views of traces, and what they share."""
