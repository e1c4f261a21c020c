"""The options of ``scalegraph simulate``: its request, lists of values, and output of several choices."""
