"""Views of traces, and their shared parts."""
