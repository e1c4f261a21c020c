"""Messages of a run: their cost, and the load of the interconnect."""
