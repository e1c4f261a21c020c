"""What a figure on the screen is made of."""
