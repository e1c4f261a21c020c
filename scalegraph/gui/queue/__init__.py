"""The queue of requests: its state, its runner and its panel."""
