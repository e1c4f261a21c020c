"""What would change it: what-if runs, virtual speedups, advice."""
