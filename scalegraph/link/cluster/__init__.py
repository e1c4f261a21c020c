"""Runs that leave this machine: what travels, what a worker does, what is accepted of its answers.

`order` is what travels there, `answers` what comes back and how it is checked, `worker` what runs on the other machine.
`courier` is the process that speaks with Dask, `engine` the link that speaks with the courier; `batch` writes both ways
as files. Nothing but `frames` crosses from one process to another: JSON and bytes.
"""
