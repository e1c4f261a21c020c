"""Changes: what-if runs, virtual speedups, advice."""
