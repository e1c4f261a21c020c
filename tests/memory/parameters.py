"""The values of a machine from which the tests compute what they expect."""

from __future__ import annotations

from scalegraph import machine


def network(name: str, overrides: dict[str, str] | None = None) -> dict[str, int]:
    """Return the parameters of a machine's network as the C side gets them."""
    values = machine.load(name, overrides).runtime_config()
    prefix = "machine.network."
    return {key.removeprefix(prefix): int(text) for key, text in values.items() if text.isdigit() and prefix in key}
