"""Results of a request's runs: quantities, models, matrices, reports, assertions."""
