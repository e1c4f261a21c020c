"""The isospeed metric."""
