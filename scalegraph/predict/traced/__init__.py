"""Prediction from traces: the thread graph of a message-passing program, or of imported traces.

`operations` reads what each rank does, `fold` finds loops, `patterns` aligns runs of several sizes, `costs` fits the
costs of messages, and `predicting` combines these into a graph for algorithm G.
"""
