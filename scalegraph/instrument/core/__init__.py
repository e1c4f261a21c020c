"""The pipeline model in C, and its Python interface."""
