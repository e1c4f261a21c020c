"""``python -m scalegraph``: the command line, where its script is not on PATH."""

from scalegraph.cli.main import main

if __name__ == "__main__":
    main()
