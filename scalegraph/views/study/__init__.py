"""Views of studies, by what they are about."""
