"""The common declaration of all networks."""

from __future__ import annotations

import math
from typing import ClassVar

from scalegraph.machine.fields import Section, declared, given


class NetworkSection(Section):
    """Base of the networks: one class here and one C file ``csrc/network/sg_net_KIND.c`` make a network.

    The parameters of the C file are made from the class's fields; see `fields.Given` for those that differ from what
    a machine file says. A subclass declares ``kind: Literal["NAME"]``.
    """

    protocol: ClassVar[str] = ""  # the coherence protocol that needs this network, and this network it
    private_only: ClassVar[bool] = False  # caches cannot be shared
    network_caches: ClassVar[bool] = False  # the shared level may be (and only be) a network cache of a cluster
    # Fields that came when there were studies already: with their defaults the runtime gets nothing of them, and takes
    # that for 0. So old runs keep their identity.
    later: ClassVar[tuple[str, ...]] = ()
    kind: str

    def runtime(self, clock_hz: float, line_bytes: int) -> dict[str, int]:
        """Return the parameters of the C side; times in cycles of *clock_hz*."""
        found = given(self, clock_hz, line_bytes)
        fields = type(self).model_fields
        unchanged = {name for name in self.later if getattr(self, name) == fields[name].default}
        for name, one in declared(type(self)):
            if name in unchanged:
                del found[one.key]
        return found

    def capacity(self) -> int:
        """Return how many processors find a place."""
        raise NotImplementedError

    def nodes(self) -> int:
        """Return the number of places where a page can be."""
        raise NotImplementedError

    def cluster(self) -> int:
        """Return the processors that are together, of which a shared cache serves a part; 0: nothing is so."""
        return 0

    def memory_b_s(self, processors: int, line_bytes: int, clock_hz: float) -> float:  # noqa: ARG002 - of those with one
        """Return bytes a second of the memory that the first *processors* processors use; infinite without a limit."""
        return math.inf

    def faults(self) -> list[tuple[str, str]]:
        """Return contradictions between the network's own values: (field, sentence)."""
        return []
