"""Imports: files of other tools to sets of a study, tables and traces."""
