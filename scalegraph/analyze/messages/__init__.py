"""What messages cost: plain rows, and tables of them."""
