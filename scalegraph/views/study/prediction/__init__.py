"""Prediction from small runs: the thread graph, predicted and measured times, errors and ratios."""
