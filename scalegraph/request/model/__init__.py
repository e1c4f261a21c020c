"""The request: its parts, their defaults, and their meaning for a program, a machine and a family of sizes."""
