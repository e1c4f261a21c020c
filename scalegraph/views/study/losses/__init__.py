"""Views of the processors' time: groups, categories, causes."""
