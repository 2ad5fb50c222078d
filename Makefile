# Everything here sets itself up: `make run` and `make test` need only make and Python 3.11 or newer with venv.
# A stamp in .venv says what is installed; it grows old when setup.cfg or constraints.txt change.

VENV = .venv
BIN = $(VENV)/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
LISTS = setup.cfg pyproject.toml constraints.txt
PYTHONS = python3.13 python3.12 python3.11 python3

unexport PYTHONPATH PYTHONHOME

.PHONY: run demo test check lint types format bench bench-compare soak pictures clean

run: $(VENV)/stamp-run
	$(BIN)/bank-sandbox serve $(ARGS)

demo: $(VENV)/stamp-run
	$(BIN)/python -m examples.shop $(ARGS)

test: $(VENV)/stamp-test
	$(BIN)/python -m pytest -n 2 $(ARGS)

check: lint types test

lint: $(VENV)/stamp-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/stamp-dev
	$(BIN)/mypy

format: $(VENV)/stamp-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/stamp-test
	$(BIN)/python -m bench $(ARGS)

# Minutes of mixed load on a served bank, whose memory must be flat in the end: make soak ARGS='--seconds 600'
soak: $(VENV)/stamp-test
	$(BIN)/python -m bench.soak $(ARGS)

# make bench-compare OLD=before.json NEW=after.json
bench-compare: $(VENV)/stamp-test
	$(BIN)/python -m bench.compare $(OLD) $(NEW)

pictures: $(VENV)/stamp-test
	$(BIN)/python -m tests.browser.pictures

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# setuptools stands in the environment itself, so that its version is ours and a later install needs no network.
$(VENV)/stamp-made:
	@for python in $(PYTHONS); do \
	  if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "making $(VENV) with $$($$python --version)"; \
	    rm -rf $(VENV) && $$python -m venv $(VENV) && $(INSTALL) setuptools && touch $@; \
	    exit $$?; \
	  fi; \
	done; \
	echo "No Python 3.11 or newer with venv was found among: $(PYTHONS)." >&2; \
	echo "On Debian and Ubuntu: apt-get install python3-venv. Or name one: make PYTHONS=/path/to/python3.12" >&2; \
	exit 1

$(VENV)/stamp-run: $(VENV)/stamp-made $(LISTS)
	$(INSTALL) --no-build-isolation --editable .
	@touch $@

$(VENV)/stamp-test: $(VENV)/stamp-made $(LISTS)
	$(INSTALL) --no-build-isolation --editable '.[test]'
	@touch $@ $(VENV)/stamp-run

$(VENV)/stamp-dev: $(VENV)/stamp-made $(LISTS)
	$(INSTALL) --no-build-isolation --editable '.[test,dev]'
	@touch $@ $(VENV)/stamp-test $(VENV)/stamp-run
