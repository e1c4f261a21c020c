"""Commands measured as they are: no build, no hooks, no knowledge of what they compute."""
