"""Interconnects with easy numbers for tests: 100 MHz, links of 100 MB/s (a byte takes a cycle), hops of 3 cycles."""

from __future__ import annotations

BASE = """
link_mb_s = 100.0
hop_ns = 30.0
interface_mb_s = 100.0
interface_ns = 50.0
"""
HOP, INTERFACE = 3, 5  # cycles


def table(kind: str, **values: object) -> str:
    """Return the table of an interconnect."""
    texts = [f"{key} = {str(value).lower() if isinstance(value, bool) else value!r}" for key, value in values.items()]
    return "\n".join([f"kind = {kind!r}", BASE if "link_mb_s" not in values else "", *texts]).replace("'", '"')


TABLES = {
    "mesh": table("mesh", columns=5, rows=4, switching="cut_through"),
    "mesh3": table("mesh", columns=4, rows=3, layers=3, switching="cut_through"),
    "torus": table("torus", columns=5, rows=4, switching="cut_through"),
    "torus3": table("torus", columns=4, rows=3, layers=5, switching="cut_through"),
    "hypercube": table("hypercube", dimension=5, switching="cut_through"),
    "crossbar": table("crossbar", ports=20, switching="cut_through"),
    "fat_tree": table("fat_tree", arity=4, levels=3, switching="cut_through"),
    "tapered": table("fat_tree", arity=4, levels=3, tapered_levels=2, routing="adaptive", switching="cut_through"),
    "dragonfly": table(
        "dragonfly",
        groups=9,
        group_routers=4,
        router_nodes=2,
        global_links=2,
        global_mb_s=100.0,
        global_hop_ns=30.0,
        switching="cut_through",
    ),
    "valiant": table(
        "dragonfly",
        groups=9,
        group_routers=4,
        router_nodes=2,
        global_links=2,
        global_mb_s=100.0,
        global_hop_ns=30.0,
        routing="valiant",
        switching="cut_through",
    ),
    "star": table("star", switch_nodes=6, switches=4, uplinks=2, uplink_mb_s=100.0, switching="cut_through"),
    "ethernet": table("ethernet", stations=20, switching="cut_through"),
    "xnet": table(
        "xnet", rows=8, columns=8, reach=2, cluster_side=4, router_mb_s=100.0, router_ns=30.0, switching="cut_through"
    ),
}
