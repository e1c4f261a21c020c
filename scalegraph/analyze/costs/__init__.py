"""What runs cost besides time: energy, core-hours, node-hours and price."""
