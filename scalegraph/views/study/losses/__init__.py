"""Processor time: groups, categories, causes."""
