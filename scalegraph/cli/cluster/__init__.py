"""Remote runs: option ``--on``, written batch jobs, and collecting their results."""
