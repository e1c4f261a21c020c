"""``scalegraph predict``: the time of large runs, from a few small ones."""

from scalegraph.cli.predict.command import predict

__all__ = ["predict"]
