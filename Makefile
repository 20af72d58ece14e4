# Works with the GNU Make 3.81 of macOS. Every path is relative, so that the checkout may lie in a folder with spaces.
.NOTPARALLEL:
.PHONY: help demo test test-all test-quick lint style format fuzz bench accuracy blind error-rates savings samples docs pictures site web mac clean environment environment-dev

BIN := .venv/bin
# Some machines keep Python from storing bytecode; compiling everything again takes half of the time that a command starts.
export PYTHONDONTWRITEBYTECODE :=
SAMPLE := sample_traces/style_transfer_reload.trace
MYPY := $(BIN)/python -m mypy
# One process of tests for each processor and one more. A process that runs out of tests takes some of another's.
PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s  %s\n", $$1, $$2 }' Makefile

demo: environment ## analyze a sample recording on screen
	@$(BIN)/python -m tracekit analyze $(SAMPLE)
	@printf "\nnext, to see it on the timeline:\n  %s\n" "$(BIN)/tracekit view $(SAMPLE)"

# What needs no test has one processor at work, and takes as long as a tenth of the tests: both run at once, and either
# fails the whole. Where no bytecode is kept yet, one process makes it, and not each process of tests all of it.
test: environment-dev ## run what a change can break: ruff, mypy, import-linter, pytest
	@$(MAKE) -s lint >.venv/lint.log 2>&1 & lint=$$!; \
	[ -d tests/__pycache__ ] || $(BIN)/python -m pytest --collect-only >.venv/collected.log 2>&1; \
	$(PYTEST) --part change; tests=$$?; \
	wait $$lint; rules=$$?; cat .venv/lint.log; \
	exit $$((tests ? tests : rules))

test-all: environment-dev ## run what `make test` leaves out: privacy, samples, pages, packages, browser, labeled recordings
	@$(PYTEST) --part sweeps

test-quick: environment-dev ## run the tests that need no other program, terminal UI or real recording, in under a minute
	@$(PYTEST) --quick --hypothesis-profile=quick

lint: style ## run the checks that need no test: ruff, mypy, import-linter
	@$(MYPY)

style: environment-dev
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/lint-imports

format: environment-dev ## let ruff fix and format the code
	@$(BIN)/python -m ruff check --fix .
	@$(BIN)/python -m ruff format .

fuzz: environment-dev ## feed broken and hostile recordings and models to the readers, random apps to the detectors, and every key to the terminal UI, for half an hour and more
	@$(BIN)/python tests/support/fuzz_export.py
	@$(BIN)/python tests/support/fuzz_scanner.py --seconds 60
	@$(BIN)/python tests/support/fuzz_bundle.py
	@$(BIN)/python tests/support/fuzz_hostile.py
	@$(BIN)/python tests/support/fuzz_models.py
	@$(PYTEST) tests/recording/bundle/test_round_trip.py --scenarios 200 --every-case
	@$(PYTEST) tests/recording/export/test_scanner_safety.py tests/recording/export/test_scanned.py --every-case
	@$(PYTEST) tests/suite/test_random_apps.py tests/suite/test_option_bounds.py tests/suite/test_blind.py \
		tests/suite/test_savings.py tests/suite/test_slow_predictions.py \
		tests/recording/writing/test_round_trip.py tests/test_benchmarks.py tests/test_mac.py \
		tests/render/test_browser.py --every-case
	@$(PYTEST) tests/suite/test_consistency.py tests/suite/test_filters.py --every-case
	@$(PYTEST) -m turns --every-case --ignore tests/suite
	@$(PYTEST) -m hypothesis --hypothesis-profile=fuzz

bench: environment-dev ## measure readers and every step up to the report side by side and write benchmarks/results.md
	@$(BIN)/python benchmarks/run.py $(if $(BUNDLE),--bundle $(BUNDLE)) --output benchmarks/results.md

samples: environment-dev ## write sample_traces/ again
	@PYTHONPATH=tests $(BIN)/python -m support.samples

accuracy: environment-dev ## judge the detectors on labeled recordings and write docs/detectors/accuracy.md
	@PYTHONPATH=tests $(BIN)/python -m suite.accuracy

blind: environment-dev ## judge the labeled recordings without Core ML's rows and write docs/detectors/blind.md
	@PYTHONPATH=tests $(BIN)/python -m suite.blind

error-rates: environment-dev ## compare simulated recordings and write docs/error-rates.md
	@PYTHONPATH=tests $(BIN)/python -m support.simulated_latencies

savings: environment-dev ## compare predicted savings with the same apps without the problem and write docs/detectors/savings.md
	@PYTHONPATH=tests $(BIN)/python -m suite.savings

docs: environment-dev ## write the list of checks in docs/detectors/, the JSON Schemas and the pages on SQL views again
	@$(BIN)/python scripts/detector_pages.py
	@$(BIN)/python scripts/json_schemas.py
	@$(BIN)/python scripts/sql_views.py

pictures: environment-dev ## write the pictures and the table of keys of docs/view.md again
	@$(BIN)/python scripts/view_page.py

site: environment-dev ## build the documentation as a site in build/site/; a broken link fails
	@$(BIN)/python scripts/site_pages.py
	@$(BIN)/python -m mkdocs build --strict

web: ## write the script and the style of the HTML report again (needs npm)
	@scripts/web_packages.sh
	@cd web && npm run --silent build

mac: environment ## on a Mac with Xcode: record a program with planted problems and judge what tracekit says of it
	@PYTHON="$$PWD/$(BIN)/python" scripts/mac/record.sh mac-recordings

clean: ## remove the environment, builds and caches
	rm -rf .venv dist build web/node_modules web/build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find tracekit tests -name __pycache__ -type d -prune -exec rm -rf {} +

environment:
	@PYTHON="$(PYTHON)" scripts/environment.sh runtime

environment-dev:
	@PYTHON="$(PYTHON)" scripts/environment.sh dev
