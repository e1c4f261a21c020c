"""What runs cost beside their time: energy, hours of cores and nodes, price."""
