"""Laws and models fitted to the runs."""
