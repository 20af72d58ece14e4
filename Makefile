# Works with the GNU Make 3.81 of macOS. Every path is relative, so that the checkout may lie in a folder with spaces.
.NOTPARALLEL:
.PHONY: help demo test lint format fuzz accuracy samples docs pictures clean environment environment-dev

BIN := .venv/bin
SAMPLE := sample_traces/style_transfer_reload.trace

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s  %s\n", $$1, $$2 }' Makefile

demo: environment ## analyze a sample recording on screen
	@$(BIN)/python -m tracekit analyze $(SAMPLE)

test: lint ## run every check: ruff, mypy, import-linter, pytest
	@$(BIN)/python -m pytest

lint: environment-dev ## run the checks that need no test: ruff, mypy, import-linter
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy
	@$(BIN)/lint-imports

format: environment-dev ## let ruff fix and format the code
	@$(BIN)/python -m ruff check --fix .
	@$(BIN)/python -m ruff format .

fuzz: environment-dev ## feed broken exports and bundles to the readers for some minutes
	@$(BIN)/python tests/support/fuzz_export.py
	@$(BIN)/python tests/support/fuzz_bundle.py
	@$(BIN)/python -m pytest tests/recording/bundle/test_round_trip.py --scenarios 200

samples: environment-dev ## write sample_traces/ again
	@$(BIN)/python -m tracekit.testing.samples

accuracy: environment-dev ## judge the detectors on labelled recordings and write docs/detectors/accuracy.md
	@PYTHONPATH=tests $(BIN)/python -m suite.accuracy

docs: environment-dev ## write the pages of the detectors in docs/detectors/ again
	@$(BIN)/python scripts/detector_pages.py

pictures: environment-dev ## write the pictures and the table of keys of docs/view.md again
	@$(BIN)/python scripts/view_page.py

clean: ## remove the environment, builds and caches
	rm -rf .venv dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find tracekit tests -name __pycache__ -type d -prune -exec rm -rf {} +

environment:
	@PYTHON="$(PYTHON)" scripts/environment.sh runtime

environment-dev:
	@PYTHON="$(PYTHON)" scripts/environment.sh dev
