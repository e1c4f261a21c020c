"""Figures as data, the same for the screen and for files: plots, colours, contours, timelines."""
