# Two commands for a fresh machine: `make demo` and `make test`. `make check` is what CI runs.

PYTHON ?= python3
BIN := .venv/bin
# Two processes: what the smallest machines have, and what keeps the tests under four minutes there.
JOBS ?= 2
# For how long `make fuzz` looks for inputs that break something.
FUZZ_SECONDS ?= 60

.PHONY: help demo test check corpus precision fuzz generate bench torture wheel clean

help: ## Show the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

demo: .venv/installed ## Run the tool's main job in a scratch repository, showing each command
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh scripts/demo.sh

test: .venv/ready ## Run all tests
	@$(BIN)/python scripts/fetch_spec.py >/dev/null
	$(BIN)/python -m pytest -q -n $(JOBS)

check: .venv/ready ## Style, types, tests, wheel, generated documents, our own plans
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python scripts/generate.py --check
	$(MAKE) test
	$(MAKE) --output-sync -j $(JOBS) corpus precision wheel
	$(BIN)/execplan lint

corpus: .venv/ready # every real plan, read and edited
	$(BIN)/python scripts/corpus.py --check
	$(BIN)/python scripts/tokens.py --check

precision: .venv/ready # the findings that were judged
	$(BIN)/python scripts/precision.py check

fuzz: .venv/fuzz ## Look for plans and words that break the reader or a writer
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/python scripts/fuzz.py

generate: .venv/ready ## Write every generated file anew
	$(BIN)/python scripts/generate.py
	$(BIN)/python scripts/transcripts.py
	$(BIN)/python scripts/corpus.py

bench: .venv/ready ## Measure, in ratios
	$(BIN)/python scripts/bench.py

torture: .venv/ready ## Kill every verb at every system call, and let each call fail (an hour; needs strace)
	$(BIN)/python scripts/torture.py $(VERBS)

wheel: .venv/ready ## Build the wheel, install it clean, and try it
	sh scripts/smoke.sh $(BIN)/python

clean: ## Remove what was built
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .fuzz

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "execplan needs Python 3.11 or later: make PYTHON=python3.12 …"; exit 1; }
	$(PYTHON) -m venv .venv
	$@ -m pip install -q --disable-pip-version-check -c constraints.txt -U pip

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$< -m pip install -q -c constraints.txt -e .
	@touch $@

.venv/ready: .venv/installed
	$(BIN)/python -m pip install -q -c constraints.txt --group dev
	@touch $@

.venv/fuzz: .venv/installed
	$(BIN)/python -m pip install -q -c constraints.txt --group fuzz
	@touch $@
