"""Figures as data, for the screen and files alike: plots, colours, contours, timelines."""
