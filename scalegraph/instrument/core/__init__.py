"""The model of the pipeline in C, and what calls it."""
