"""The command line; every command is one file, found by `scalegraph.cli.main`."""
