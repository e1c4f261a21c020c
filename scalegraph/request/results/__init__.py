"""Results of the runs of a request: quantities, models, matrices, reports, statements that must hold."""
