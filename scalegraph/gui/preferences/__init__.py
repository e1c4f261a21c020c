"""Preferences: appearance, exports, runs side by side, the cache, what opens at the start."""
