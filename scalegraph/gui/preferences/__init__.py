"""Preferences: appearance, exports, parallel runs, the cache, and what opens at the start."""
