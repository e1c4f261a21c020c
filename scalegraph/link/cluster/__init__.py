"""Runs on other machines: what is sent, what a worker does with it, and which answers are accepted.

`order` is what travels there, `answers` what comes back and how it is checked, `worker` what runs on the other machine.
`courier` is the process that speaks with Dask, `engine` the link that speaks with the courier; `batch` writes orders
and answers as files. Only `frames` cross between processes: JSON and bytes.
"""
