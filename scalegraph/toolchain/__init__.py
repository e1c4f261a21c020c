"""From the user's sources to programs that the simulated target can run: flags, compilation with probes, linking.

`control.build` and the compiler wrappers (``scalegraph-cc`` and its sisters) do it with the same functions.
"""
