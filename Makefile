# `make test` and `make demo` need Python 3.11 or newer and make, nothing else; both set up .venv first where it is missing.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DOCS := .venv-docs/bin
DOCS_READY := .venv-docs/.ready
BIOME_VERSION := 2.6.8
BIOME := .venv/biome-$(BIOME_VERSION)/node_modules/.bin/biome

.PHONY: help test test-all soak style scripts types tests demo docs site consoles promise format wheel benchmark clean

help:
	@echo "make test       lint, type-check, guard the imports, test every promise once"
	@echo "make test-all   and what needs a browser, PostgreSQL, LaTeX or published data: what CI runs"
	@echo "make soak       and rates and endurance, before a release: hundreds of kills, thousands of draws"
	@echo "                FILE=tests/runs or FILE=tests/runs/test_x.py::test_name: only that, for all three"
	@echo "make demo       a whole study in a minute, without a key or a network"
	@echo "make docs       build the documentation into site/, check its links, run the commands that it shows"
	@echo "make format     format the code and mend what ruff can mend"
	@echo "make wheel      build sdist and wheel into dist/, with a list of all packages (CycloneDX)"
	@echo "make benchmark  measure genaipa's own speed"
	@echo "make clean      remove .venv, .venv-docs, dist/ and site/"

ifdef FILE
test test-all soak: $(READY)
	$(BIN)/pytest $(FILE)
else
# The tests wait for browsers and servers now and then, which leaves the type checker its time.
test test-all soak: style
	@$(MAKE) --no-print-directory --jobs 2 types tests
endif
test-all: export GENAIPA_TESTS = full
soak: export GENAIPA_TESTS = soak
soak: promise
# A Python that keeps no bytecode compiles everything anew in each of the many processes that the tests start.
test test-all soak: export PYTHONDONTWRITEBYTECODE =

promise:
	@echo "make soak shows that what holds once holds hundreds of times: no answer or score is lost or doubled by any kill,"
	@echo "no changed byte goes unseen, and intervals hold as often as they say."

style: scripts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports

# The desk's JavaScript, where Node.js is there and npm reaches biome once. Its files are linted each, and then as the browser
# gets them: only there every name is declared.
scripts: $(READY)
	@if command -v npm >/dev/null && { [ -x $(BIOME) ] || npm install --silent --no-save --no-package-lock \
			--prefix .venv/biome-$(BIOME_VERSION) @biomejs/biome@$(BIOME_VERSION) >/dev/null 2>&1; }; then \
		$(BIN)/python docs/write_scripts.py .cache/components && $(BIOME) lint --error-on-warnings genaipa genaipa_people genaipa_points benchmarks && \
		$(BIOME) lint --only=correctness/noUndeclaredVariables --only=suspicious/noRedeclare .cache/components; \
	else \
		echo "the desk's JavaScript isn't linted: that needs Node.js, and npm's registry once"; \
		case " $$GENAIPA_REQUIRE " in *" Node.js "*) exit 1;; esac; \
	fi

types: $(READY)
	$(BIN)/mypy

tests: $(READY)
	$(BIN)/pytest -n auto --dist worksteal

demo: $(READY)
	$(BIN)/genaipa demo

docs: $(READY) $(DOCS_READY)
	@$(MAKE) --no-print-directory --jobs 2 site consoles

site: $(DOCS_READY)
	$(DOCS)/python -m zensical build --clean --strict
	$(DOCS)/python docs/check_site.py

consoles: $(READY)
	$(BIN)/python docs/run_consoles.py

format: $(READY)
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

wheel: $(READY)
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/python docs/generate_sbom.py

benchmark: $(READY)
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv .venv-docs dist site

# pip is renewed first: the one that comes with Python may be too old for --group and --build-constraint.
# It speaks up only when something fails; the variable also reaches the pip that it calls to build genaipa.
$(READY): export PIP_DISABLE_PIP_VERSION_CHECK = 1
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "genaipa needs Python 3.11 or newer and $(PYTHON) is %d.%d; name a newer one, for example: make PYTHON=python3.12 $(MAKECMDGOALS)" % sys.version_info[:2] or 0)'
	@echo "setting up .venv: once, about a minute"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq --upgrade --constraint constraints.txt pip
	@$(BIN)/python -m pip install -qq --constraint constraints.txt \
		--build-constraint constraints.txt --editable '.[all]' --group dev
	@touch $@

# What builds the site is apart: no test needs it.
$(DOCS_READY): export PIP_DISABLE_PIP_VERSION_CHECK = 1
$(DOCS_READY): $(READY)
	@echo "setting up .venv-docs: once, half a minute"
	@$(BIN)/python -m venv --without-pip .venv-docs
	@$(BIN)/python -m pip --python $(DOCS)/python install -qq --constraint constraints.txt --group docs
	@touch $@
