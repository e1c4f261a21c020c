"""Studies and traces as used by views, quantities and reports: their data, selections, and sums computed once."""
