"""Misses by place, class and cause."""
