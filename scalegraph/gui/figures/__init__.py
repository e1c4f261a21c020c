"""Figures on the screen: a panel for each kind."""
