"""Prediction from traces: the thread graph of a program whose ranks send messages, or whose traces were imported.

`operations` reads what each rank does, `fold` finds loops in it, `patterns` aligns the runs of several sizes, `costs`
finds what messages cost, and `predicting` puts these into a graph that algorithm G traverses.
"""
