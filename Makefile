# Everything here sets itself up: `make run` and `make test` need only make and Python 3.11 or newer with venv.
# A stamp in .venv says what is installed; it grows old when setup.cfg or a list in requirements/ changes.

VENV = .venv
BIN = $(VENV)/bin
INSTALL = -m pip install --quiet --disable-pip-version-check
# What others wrote: only files whose hash requirements/ knows. The project itself: without fetching anything.
LOCKED = $(INSTALL) --require-hashes --requirement requirements
OURS = $(INSTALL) --no-deps --no-build-isolation
LISTS = setup.cfg pyproject.toml $(wildcard requirements/*.txt)
PYTHONS = python3.13 python3.12 python3.11 python3

# What Python compiles it keeps: workers of the tests, and the servers that they start, compile nothing twice.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE

.PHONY: run demo docs test check lint types format bench bench-compare bench-vary soak races simulate histories damage fuzz withstand ready removals calibrate pictures trees lock audit sbom dist executable clean

run: $(VENV)/stamp-run
	$(BIN)/bank-sandbox serve $(ARGS)

demo: $(VENV)/stamp-run
	$(BIN)/bank-sandbox demo $(ARGS)

# The documentation as static files, with its search: build/docs/index.html
docs: $(VENV)/stamp-run
	$(BIN)/bank-sandbox docs --output build/docs

test: $(VENV)/stamp-test
	$(BIN)/python -m pytest -n 4 --dist worksteal $(ARGS)

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

# The verdict on a suite of 30 tests, of a robust client and of a broken one: make bench-vary ARGS='--strength 2'
bench-vary: $(VENV)/stamp-test
	$(BIN)/python -m bench.vary $(ARGS)

# Minutes of mixed load on a served bank, whose memory must be flat in the end: make soak ARGS='--seconds 600'
soak: $(VENV)/stamp-test
	$(BIN)/python -m bench.soak $(ARGS)

# Ten minutes of a bank whose file fails, tears, flips and is killed: make simulate ARGS='--seed 5', or '--seed 5/3' for
# one life that failed.
simulate: $(VENV)/stamp-test
	$(BIN)/python -m tests.simulation $(or $(ARGS),--seconds 600)

# Each shipped race a thousand times: make races ARGS='--times 100 two_refreshes_race_and_one_is_refused'
races: $(VENV)/stamp-test
	$(BIN)/python -m bench.races $(ARGS)

# Servers of one PostgreSQL that are killed, stopped, ended and cut off, and the database too. Promotions of a standby are
# python -m tests.histories.promotions and tests.histories.lost_tails. make histories ARGS='--faults 200 --seed 5'
# Also: --conflicts, --isolation serializable, --pooler. Several histories may run side by side.
histories: $(VENV)/stamp-test
	$(BIN)/python -m tests.histories $(ARGS)

# The reference client and the demo shop under every pair of values of every two axes: make withstand ARGS='shop_buys'
withstand: $(VENV)/stamp-test
	$(BIN)/python -m tests.vary.withstand $(ARGS)

# Whether the reference client and the demo shop are ready: build/ready/client/ready.html, build/ready/shop/ready.html
ready: $(VENV)/stamp-test
	$(BIN)/python -m pytest -q -n 2 tests/vary/ready_suite.py -k test_client --bank-ready=build/ready/client $(ARGS)
	$(BIN)/python -m pytest -q -n 2 tests/vary/ready_suite.py -k test_shop --bank-ready=build/ready/shop \
	  --bank-ready-accept=tests/vary/ready_shop.yaml $(ARGS)

# A suite of 34 tests without one assertion after the other: each must be named by a lie. make removals ARGS='an_order_is_active'
removals: $(VENV)/stamp-test
	$(BIN)/python -m tests.vary.removals $(ARGS)

# State files with flipped bits and zeroed blocks: each is told, or tells what it told before.
damage: $(VENV)/stamp-test
	$(BIN)/python -m tests.worlds.damage $(or $(ARGS),1000 300 1)

# Calls of every route with hostile headers and queries, by count and seed: make fuzz ARGS='500 7', and where worlds are
# kept: make fuzz ARGS='500 7 bank.sqlite'. Then all examples and combinations of which `make test` tries a share.
fuzz: $(VENV)/stamp-test
	$(BIN)/python -m tests.pki.wild_calls $(or $(ARGS),28500 1)
	$(BIN)/python -m pytest -q -n 2 --hypothesis-profile=long tests/pki/test_fuzz.py tests/pki/test_malformed.py tests/pki/test_spellings.py

# make bench-compare OLD=before.json NEW=after.json
bench-compare: $(VENV)/stamp-test
	$(BIN)/python -m bench.compare $(OLD) $(NEW)

# A hundred hidden banks, each calibrated by its recording: make calibrate ARGS='0 5', '0 20 third', '0 20 alone', '0 5 follow'
calibrate: $(VENV)/stamp-test
	$(BIN)/python -m tests.calibrate.hundred $(ARGS)

pictures: $(VENV)/stamp-test
	$(BIN)/python -m tests.browser.pictures

# After a change of the shipped people or of the default scenario: what a start reads of them.
trees: $(VENV)/stamp-test
	$(BIN)/python -m tests.people.trees

# After a change of what setup.cfg demands: make lock, or make lock ARGS='--upgrade [NAME]'. It needs the network.
lock:
	.ci/lock $(ARGS)

# Whether a package that is installed has a known vulnerability. It asks a database over the network, so it is no part of
# the tests; a package that could not be looked up fails it too.
audit: $(VENV)-audit/stamp
	$(VENV)-audit/bin/pip-audit --strict --require-hashes --disable-pip \
	  $(addprefix --requirement ,$(wildcard requirements/*.txt)) $(ARGS)

# What the image holds, as CycloneDX: dist/bank-sandbox.cdx.json. The environment is made anew, and holds nothing else.
sbom: $(VENV)-audit/stamp
	rm -rf build/sbom && mkdir -p dist && $(VENV)-audit/bin/python -m venv --without-pip build/sbom
	$(VENV)-audit/bin/python -m pip --python build/sbom/bin/python $(subst -m pip ,,$(LOCKED))/image.txt
	$(VENV)-audit/bin/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/sbom/wheel .
	rm -rf build/lib *.egg-info
	$(VENV)-audit/bin/python -m pip --python build/sbom/bin/python install --quiet --no-deps --no-index --find-links build/sbom/wheel bank-sandbox
	$(VENV)-audit/bin/cyclonedx-py environment --output-reproducible --output-file dist/bank-sandbox.cdx.json build/sbom

# Wheel and source archive of the last commit, built twice to the same bytes, with their sums and the list of parts.
dist: $(VENV)/stamp-test sbom
	$(BIN)/python .ci/dist --check

# One file that runs where there is no Python, on machines of this kind: dist/bank-sandbox
executable: $(VENV)-executable/stamp
	rm -rf build/executable build/lib && $(VENV)-executable/bin/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/executable .
	rm -rf build/lib *.egg-info # Python would find its list of extensions before that of the environment
	$(VENV)-executable/bin/python -m pip install --quiet --no-deps --no-index --force-reinstall --find-links build/executable bank-sandbox
	$(VENV)-executable/bin/pyinstaller --noconfirm --log-level WARN --distpath dist --workpath build/executable deploy/executable/bank-sandbox.spec

clean:
	rm -rf $(VENV) $(VENV)-audit $(VENV)-executable build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# setuptools stands in the environment itself, so that its version is ours and a later install needs no network.
$(VENV)/stamp-made:
	@for python in $(PYTHONS); do \
	  if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "making $(VENV) with $$($$python --version)"; \
	    rm -rf $(VENV) && $$python -m venv $(VENV) && $(BIN)/python $(LOCKED)/build.txt && touch $@; \
	    exit $$?; \
	  fi; \
	done; \
	echo "No Python 3.11 or newer with venv was found among: $(PYTHONS)." >&2; \
	echo "On Debian and Ubuntu: apt-get install python3-venv. Or name one: make PYTHONS=/path/to/python3.12" >&2; \
	exit 1

$(VENV)/stamp-run: $(VENV)/stamp-made $(LISTS)
	$(BIN)/python $(LOCKED)/run.txt
	$(BIN)/python $(OURS) --editable .
	@touch $@

$(VENV)/stamp-test: $(VENV)/stamp-made $(LISTS)
	$(BIN)/python $(LOCKED)/test.txt
	$(BIN)/python $(OURS) --editable .
	@touch $@ $(VENV)/stamp-run

$(VENV)/stamp-dev: $(VENV)/stamp-made $(LISTS)
	$(BIN)/python $(LOCKED)/dev.txt
	$(BIN)/python $(OURS) --editable .
	@touch $@ $(VENV)/stamp-test $(VENV)/stamp-run

$(VENV)-audit/stamp: $(VENV)/stamp-made requirements/audit.txt requirements/build.txt
	rm -rf $(VENV)-audit && $(BIN)/python -m venv $(VENV)-audit
	$(VENV)-audit/bin/python $(LOCKED)/audit.txt --requirement requirements/build.txt
	@touch $@

$(VENV)-executable/stamp: $(VENV)/stamp-made requirements/image.txt requirements/executable.txt requirements/build.txt
	rm -rf $(VENV)-executable && $(BIN)/python -m venv $(VENV)-executable
	$(VENV)-executable/bin/python $(LOCKED)/image.txt --requirement requirements/executable.txt --requirement requirements/build.txt
	@touch $@
