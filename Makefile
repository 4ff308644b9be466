# Two commands for a fresh machine: `make demo` and `make test`. `make check` is what CI runs.

PYTHON ?= python3
BIN := .venv/bin
# Two processes: what the smallest machines have, and what keeps the tests under four minutes there.
JOBS ?= 2
# For how many seconds each search of `make fuzz` looks for inputs that break something.
FUZZ_SECONDS ?= 60
# Without bytecode pytest rewrites every assertion of every test file again, in each process.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo quick test test-bare check style words types generated corpus precision fuzz fuzz-properties fuzz-inputs generate bench torture wheel demo-check clean

help: ## Show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

demo: .venv/installed ## Run the tool's main job in a scratch repository, showing each command
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh scripts/demo.sh

quick: .venv/ready ## Run the tests of one package without property tests: make quick PACKAGE=engine/journal
	$(BIN)/python -m pytest -q -n $(JOBS) -m "not hypothesis" tests/$(PACKAGE)

test: .venv/ready ## Run all tests
	@$(BIN)/python scripts/fetch_spec.py >/dev/null
	$(BIN)/python -m pytest -q -n $(JOBS)

test-bare: .venv/ready ## Run all tests with only Python, git, make and basic utilities on PATH; properties with random examples
	EXECPLAN_TOOLS= $(BIN)/python scripts/bare_path.py $(BIN)/python -m pytest -q -n $(JOBS) -m "not hypothesis"
	FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_JOBS=$(JOBS) EXECPLAN_TOOLS= $(BIN)/python scripts/bare_path.py $(BIN)/python scripts/fuzz_properties.py

check: .venv/ready ## Style, types, tests, wheel, generated documents, our own plans
	$(MAKE) --output-sync -j $(JOBS) style words types generated corpus precision wheel demo-check
	$(MAKE) test
	$(BIN)/execplan lint

style: .venv/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

words: .venv/ready # names, docstrings and basenames follow the vocabulary
	$(BIN)/python scripts/words.py

types: .venv/ready
	$(BIN)/mypy

generated: .venv/ready # every generated file is as it would be made now
	$(BIN)/python scripts/generate.py --check

corpus: .venv/ready # every real plan, read and edited
	$(BIN)/python scripts/corpus.py --check
	$(BIN)/python scripts/tokens.py --check

precision: .venv/ready # the findings that were judged
	$(BIN)/python scripts/precision.py check

fuzz: fuzz-properties fuzz-inputs ## Search for inputs that break a property test, the reader or a writer

fuzz-properties: .venv/ready # random examples for every property test
	FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_JOBS=$(JOBS) $(BIN)/python scripts/fuzz_properties.py

fuzz-inputs: .venv/fuzz # plans and words, guided by coverage
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/python scripts/fuzz.py

generate: .venv/ready ## Write every generated file anew
	$(BIN)/python scripts/generate.py
	$(BIN)/python scripts/transcripts.py
	$(BIN)/python scripts/corpus.py

bench: .venv/ready ## Measure, in ratios
	$(BIN)/python scripts/bench.py

torture: .venv/ready ## Kill every verb at every system call, and let each call fail (an hour; needs strace)
	$(BIN)/python scripts/torture.py $(VERBS)

demo-check: .venv/ready # the demo ends as it should
	@$(MAKE) demo >.venv/demo.log 2>&1 || { tail -n 30 .venv/demo.log; exit 1; }

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
