"""The cost of messages: as plain rows, and as tables."""
