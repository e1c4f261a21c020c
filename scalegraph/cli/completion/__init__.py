"""Completion in the shell: what each command takes, known without importing the commands."""
