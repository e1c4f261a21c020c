"""The request: its parts, their defaults, and what they mean for a program, a machine and a family of sizes."""
