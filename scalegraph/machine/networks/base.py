"""The common declaration of all networks."""

from __future__ import annotations

import math
from typing import ClassVar

from scalegraph.machine.fields import Section, declared, given


class NetworkSection(Section):
    """Base of the networks: each has a class here and a C file ``csrc/network/sg_net_KIND.c``.

    The parameters of the C file are generated from the class's fields; see `fields.Given` for those that differ from
    the machine file. A subclass declares ``kind: Literal["NAME"]``.
    """

    protocol: ClassVar[str] = ""  # the coherence protocol that requires this network, and is required by it
    private_only: ClassVar[bool] = False  # whether caches must be private
    network_caches: ClassVar[bool] = False  # whether the shared level may (only) be the network cache of a cluster
    # Fields added when studies already existed: with their defaults they are not passed to the runtime, which takes
    # them for 0. So old runs keep their identity.
    later: ClassVar[tuple[str, ...]] = ()
    kind: str

    def runtime(self, clock_hz: float, line_bytes: int) -> dict[str, int]:
        """Return the parameters for the C side; times in cycles of *clock_hz*."""
        found = given(self, clock_hz, line_bytes)
        fields = type(self).model_fields
        unchanged = {name for name in self.later if getattr(self, name) == fields[name].default}
        for name, one in declared(type(self)):
            if name in unchanged:
                del found[one.key]
        return found

    def capacity(self) -> int:
        """Return the maximum number of processors."""
        raise NotImplementedError

    def nodes(self) -> int:
        """Return the number of possible page locations."""
        raise NotImplementedError

    def cluster(self) -> int:
        """Return the processors per cluster, a part of which can share a cache; 0 without clusters."""
        return 0

    def memory_b_s(self, processors: int, line_bytes: int, clock_hz: float) -> float:  # noqa: ARG002 - of those with one
        """Return the memory bandwidth of the first *processors* processors in bytes/s; infinite without a limit."""
        return math.inf

    def faults(self) -> list[tuple[str, str]]:
        """Return contradictions between the network's own values: (field, sentence)."""
        return []
