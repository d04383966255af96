# On a fresh machine, start with `make demo` or `make test`. Each target installs what it needs.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: docs pages gallery reproduce demo test browser screenshots lint bench wheel clean

$(VENV)/.runs: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.develops: $(VENV)/.runs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

DEMO_TEXT := GRB2 binds SOS1. MDM2 is phosphorylated by AKT1. RAD51 does not interact with PTEN. \
 IL-6 may activate STAT3. JAK2 phosphorylates STAT3 and STAT5A.
demo: $(VENV)/.runs  ## annotate a few sentences and cross-validate on the sample corpus
	@echo "$(DEMO_TEXT)"
	@echo
	@echo "$(DEMO_TEXT)" | $(BIN)/textrank apply ppi - --table
	@echo
	@echo "Cross-validation by document on the sample corpus:"
	$(BIN)/textrank run ppi corpora/sample-ppi --folds 5

# One BLAS thread per pytest worker by default. Bytecode is kept for commands that tests start.
test coverage: export OMP_NUM_THREADS ?= 1
test coverage: export OPENBLAS_NUM_THREADS ?= 1
test coverage: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/.develops  ## all tests except slow and corpus tests; TESTS=tests/kernels selects a part
	$(BIN)/python -m pytest -n auto --dist worksteal $(TESTS) -m "not slow and not corpus and not benchmark and not browser and not campaign"

VERSIONS ?= 3.11 3.12 3.13
LOWEST   := build/venv-lowest
.PHONY: matrix portable lowest coverage readers
matrix: $(VENV)/.develops  ## tests for other processors, Python versions and lowest package versions
	$(BIN)/python .ci/matrix.py --python $(VERSIONS) --settings "$(SETTINGS)" -- $(TESTS)

portable: $(VENV)/.develops  ## numerical tests with two processor types and one or two threads
	$(BIN)/python .ci/matrix.py --settings Nehalem+threads-1,Haswell+threads-2 \
	  --markers "portable and not slow and not corpus" -- $(TESTS)

lowest: $(LOWEST)/.develops  ## tests with the lowest versions that pyproject.toml allows
	$(MAKE) test VENV=$(LOWEST)

ifneq ($(VENV),$(LOWEST))
$(LOWEST)/.runs: pyproject.toml
	mkdir -p build
	$(PYTHON) -c "import re, tomllib; names = tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies']; \
	  print('\n'.join(re.sub(r'>=([\w.]+).*', r'==\1.*', name) for name in names))" > build/lowest.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --constraint build/lowest.txt --editable '.[dev]'
	touch $@

$(LOWEST)/.develops: $(LOWEST)/.runs
	touch $@
endif

# From Python 3.12 on, coverage is measured at little cost. Older versions would warn on each start.
CORE_OF_VERSION := import sys; print("sysmon" if sys.version_info >= (3, 12) else "ctrace")
coverage: export COVERAGE_CORE ?= $(shell $(BIN)/python -c '$(CORE_OF_VERSION)')
coverage: $(VENV)/.develops  ## line coverage, as text and in build/coverage
	mkdir -p build/coverage-data
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -q -n auto --dist worksteal $(TESTS) \
	  -m "not slow and not corpus and not benchmark and not browser and not campaign"
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage html --directory=build/coverage --quiet
	$(BIN)/python -m coverage report --skip-covered --sort=cover

READERS = tests/tasks/ppi/test_exports.py tests/results/test_exports.py
readers:  ## exports read by INDRA, PyBEL and bioc, and by ndex2, which needs an environment of its own
	$(PYTHON) -m venv build/venv-indra
	build/venv-indra/bin/python -m pip install --quiet --editable '.[dev]' indra pybel bioc
	build/venv-indra/bin/python -m pytest -rs $(READERS)
	$(PYTHON) -m venv build/venv-ndex
	build/venv-ndex/bin/python -m pip install --quiet --editable '.[dev]' ndex2
	build/venv-ndex/bin/python -m pytest -rs $(READERS)

browser: $(VENV)/.develops  ## web pages in Chromium, if it is installed
	$(BIN)/python -m pytest -m browser tests/web

screenshots: $(VENV)/.develops  ## screenshots in docs/pictures, with Chromium
	$(BIN)/python docs/pictures.py

lint: $(VENV)/.develops  ## style, docstrings, types, import layers and dead code
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/dead_code.py

bench: $(VENV)/.develops  ## measure speed and write docs/benchmarks.md
	$(BIN)/python -m tests.benchmarks.waiting
	$(BIN)/python -m pytest tests/benchmarks -m benchmark -s

docs: $(VENV)/.develops  ## build the site in build/site; broken links are errors
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/python docs/commands.py
	$(BIN)/python docs/figures.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

pages: docs  ## screenshots of all pages in build/pages; fails if a page overflows
	$(BIN)/python docs/screenshots.py build/pages

gallery: $(VENV)/.develops  ## figures of docs/gallery; the embedding needs Reuters in DATA
	$(BIN)/python docs/gallery.py --data $(DATA)

reproduce: $(VENV)/.develops  ## published experiments on DATA, into docs/reproduce; half an hour
	OMP_NUM_THREADS=1 $(BIN)/textrank reproduce --data $(DATA) --out docs/reproduce

wheel: $(VENV)/.develops  ## wheels of textrank and of en_textrank_bio
	$(BIN)/python -m build --wheel --outdir dist .
	$(BIN)/python -m build --wheel --outdir dist packaging/en_textrank_bio
	$(BIN)/python -m twine check --strict dist/*.whl

DATA ?= ../shared/data
.PHONY: golden
golden: $(VENV)/.develops  ## rewrite tests/golden and print the differences; KEYS=answers.json:ppi selects a part
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.golden $(KEYS)

MODELS := lexicon en_textrank_bio en_textrank_mirror identifiers gene_protein spelling confusions parse_ranking \
  ppi ppi/status ppi/type ppi/direction
.PHONY: models models/ppi-statements models/ppi-figures models/ppi-influence models/ppi-statement-figures $(MODELS:%=models/%)
$(MODELS:%=models/%): $(VENV)/.develops  ## rebuild a shipped model from its recipe
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=models $(BIN)/python -m workshop.build $(@:models/%=%) $(DATA)

models/ppi-statements: models/ppi/status models/ppi/type models/ppi/direction  ## submodels of models/ppi

models/ppi-figures: $(VENV)/.develops  ## table of the model card of ppi; twelve minutes
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=models $(BIN)/python models/ppi/recipe/measure_left_out.py $(DATA)

models/ppi-influence: $(VENV)/.develops  ## influence.npz of models/ppi, from the data that it was trained on
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=models $(BIN)/python models/ppi/recipe/write_influence.py $(DATA) models/ppi

models/ppi-statement-figures: $(VENV)/.develops  ## figures of docs/experiments/attributes.md; ten minutes
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=models $(BIN)/python -m workshop.measure_statements $(DATA)

models:  ## rebuild all models in order of dependency; some hours
	for name in $(MODELS); do $(MAKE) models/$$name DATA=$(DATA) || exit 1; done

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

INPUTS ?= 300
.PHONY: campaign
campaign: $(VENV)/.develops  ## fuzzing and kills; INPUTS=10000 takes hours
	CAMPAIGN_INPUTS=$(INPUTS) $(BIN)/python -m pytest tests/campaign -m campaign

SECONDS ?= 3600
.PHONY: explore
explore: $(VENV)/.develops  ## property tests with new examples for SECONDS of CPU time
	$(BIN)/python -m tests.campaign.explore $(SECONDS)
