"""The Inspector: the meaning and origin of values."""
