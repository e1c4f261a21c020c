"""Efficiency and latency over processors and sizes."""
