# The checks that every change must pass. `make check` is for frequent use and takes about two minutes; `make test` runs all tests.
PYTHON ?= .venv/bin/python
C_SOURCES = $(filter-out %/sg_format.h %/sg_machine.h, $(shell git ls-files 'scalegraph/*.c' 'scalegraph/*.h' 'resources/programs/*.c' 'resources/programs/*.h'))

.PHONY: check format lint types layers c-format quick test fix

check: format lint layers types c-format quick

format:
	$(PYTHON) -m ruff format --check .

lint:
	$(PYTHON) -m ruff check .

layers:
	$(PYTHON) -c "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"

types:
	$(PYTHON) -m mypy

c-format:
	$(dir $(PYTHON))clang-format --dry-run --Werror $(C_SOURCES)

quick:
	$(PYTHON) -m pytest -m "not slow" -n auto -q

test:
	$(PYTHON) -m pytest -n auto

# Generate the C headers from what Python declares, format in place, and fix what the linter can fix.
fix:
	for name in format machine; do \
	    $(PYTHON) -m scalegraph.runtime.$${name}_source > made.h && mv made.h scalegraph/runtime/csrc/ground/sg_$$name.h || exit 1; \
	done
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .
	$(dir $(PYTHON))clang-format -i $(C_SOURCES)
