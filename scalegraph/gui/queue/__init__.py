"""The queue of requests: state, runner and panel."""
