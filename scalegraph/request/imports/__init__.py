"""Imports: other tools' files become sets of a study, tables and traces."""
