"""Shell completion of commands and options, without importing the commands."""
