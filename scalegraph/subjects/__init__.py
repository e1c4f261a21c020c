"""Studies and traces as views, quantities and reports take them: their data, choices of it, sums made once."""
