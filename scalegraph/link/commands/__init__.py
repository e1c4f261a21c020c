"""Commands measured as they are: no build, no hooks, nothing that knows what they compute."""
