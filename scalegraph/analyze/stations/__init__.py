"""Processors that are not alike: networks of workstations, and the speeds that they are marked with."""
