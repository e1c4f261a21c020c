"""Programs for the simulated target from the user's sources: flags, compilation with probes, linking.

`control.build` and the compiler wrappers (``scalegraph-cc`` and its sisters) use the same functions.
"""
