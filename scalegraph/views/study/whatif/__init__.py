"""Views of changes: what-if runs, virtual speedups, advice."""
