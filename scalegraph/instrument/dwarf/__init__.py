"""Readers of debug information for the parts that large programs have most of; pyelftools reads the rest."""
