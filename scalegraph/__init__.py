"""ScaleGraph: how far does a parallel program scale, what stops it, and what would change that."""

__version__ = "0.1.0"
