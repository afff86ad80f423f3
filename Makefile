# Every target first makes .venv and installs what it needs: when missing, and when pyproject.toml changed.
# Needs Python 3.11 or newer (choose one with PYTHON=...), make, and a package index that pip can reach.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip -qq --disable-pip-version-check

# ADBench's tables lie beside the repository, or are downloaded.
ifneq ($(wildcard ../shared/adbench),)
export SETATOMS_DATA ?= $(abspath ../shared/adbench)
endif

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow soak lint paper paper-smoke bench quality docs wheel-check oldest-check

help:  ## Say what there is to make
	@sed -n 's/^\([a-z-]*\):.*  ## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

demo: $(VENV)/.core  ## Find injected anomalies in two real tables
	@$(PY) -m setatoms demo

# Files of tests side by side, in a process for each core; each takes about a gigabyte.
PYTEST = $(PY) -m pytest -q --numprocesses auto --maxprocesses 8 --dist loadfile

test: $(VENV)/.dev  ## Run the tests and the examples of the documentation, but for the slow ones
	@$(PY) -m setatoms.warm_up
	@$(PYTEST) -m "not slow"

test-slow: $(VENV)/.dev  ## Run the tests that take longest: compiling, killing, a short soak
	@$(PYTEST) -m slow

soak: $(VENV)/.dev  ## Try mutated inputs, kills and full disks (SOAK="--inputs 1000000 --kills 500" for long)
	@$(PY) tests/soak/run.py $(SOAK)

lint: $(VENV)/.dev  ## Check style, types and the direction of imports
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@$(VENV)/bin/lint-imports

paper: $(VENV)/.deep  ## Run the paper's whole benchmark; takes half an hour and more, resumes where it stopped
	@$(PY) -m benchmarks paper run --suite paper --jobs 2 --out build/paper
	@$(PY) -m benchmarks paper tables build/paper

paper-smoke: $(VENV)/.bench  ## Run a small part of the paper's benchmark, in two minutes
	@$(PY) -m benchmarks paper run --suite smoke --jobs 2 --out build/paper-smoke
	@$(PY) -m benchmarks paper tables build/paper-smoke

bench: $(VENV)/.bench  ## Time the library beside its peers (BENCH="--quick --only omp" for a look)
	@$(PY) -m benchmarks speed $(BENCH)

quality: $(VENV)/.bench  ## Study how often answers are right (NAME="fdr --quick" for one study)
	@$(PY) -m benchmarks quality --keep build/paper $(NAME)

# Pages of names that are no more would be in no table of contents.
docs: $(VENV)/.docs  ## Build the site into build/site; any warning is an error
	@rm -rf docs/generated/api
	@$(PY) -m setatoms.warm_up
	@$(PY) -m sphinx -q -W --keep-going -n --jobs auto -d build/site-cache docs build/site
	@echo "The site is build/site/index.html"

wheel-check: $(VENV)/.dev  ## Build archive and wheel, check them, run the demo in a clean environment
	@set -e; clean=$$(mktemp -d); trap 'rm -rf "$$clean"' EXIT; \
	echo "Building the source archive and the wheel ..."; \
	$(PY) -m build --outdir "$$clean/dist" . >"$$clean/log" 2>&1 || { cat "$$clean/log"; exit 1; }; \
	$(PY) tests/packaging/check_archives.py "$$clean/dist"; \
	$(PY) -m twine --no-color check --strict "$$clean"/dist/*; \
	echo "Installing the wheel into a clean environment ..."; \
	$(PYTHON) -m venv "$$clean/venv"; \
	"$$clean/venv/bin/python" -m pip -qq --disable-pip-version-check install "$$(echo "$$clean"/dist/*.whl)[cli]"; \
	cd "$$clean"; venv/bin/setatoms --version; venv/bin/setatoms demo

# The least versions in pyproject.toml, exactly: numba>=0.62 becomes numba==0.62. The extras stand on a line each.
OLDEST = $(shell sed -nE 's/^  "(numba|numpy|pandas|polars|safetensors|scikit-learn|scipy)>=([0-9.]+)("|,<3).*/\1==\2/p' pyproject.toml | sort -u) \
$(shell sed -nE 's/^(cli|excel|plot|pyod) = \[(.*)\].*/\2/p' pyproject.toml | tr -d '",' | sed 's/>=/==/g')

oldest-check:  ## Test with the oldest versions allowed, of Numba and NumPy to PyOD and Matplotlib
	@set -e; clean=$$(mktemp -d); trap 'rm -rf "$$clean"' EXIT; \
	echo "Installing $(OLDEST) into a clean environment ..."; \
	$(PYTHON) -m venv "$$clean/venv"; \
	"$$clean/venv/bin/python" -m pip -qq --disable-pip-version-check install $(OLDEST) \
	--editable '.[cli,excel,plot,pyod]' pytest hypothesis openpyxl pooch pyyaml; \
	NUMBA_CACHE_DIR="$$clean" "$$clean/venv/bin/python" -m pytest -q -p no:cacheprovider -m "not slow" \
	tests/_compile tests/backends tests/lanes tests/test_plain_python.py tests/coding tests/decisions tests/estimators \
	tests/explain tests/files tests/persistence tests/views tests/test_demo.py tests/test_plot.py tests/test_public_api.py tests/test_pyod.py

$(VENV)/.core: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit( \
	"setatoms needs Python 3.11 or newer, $(PYTHON) is " + sys.version.split()[0] + "; make PYTHON=...")'
	@echo "Installing setatoms into $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --editable '.[cli]'
	@$(PY) -m setatoms.warm_up
	@touch $@

# Apart from the others, since PyTorch is large; this version has small builds for CPUs.
$(VENV)/.deep: $(VENV)/.bench
	@echo "Installing PyTorch into $(VENV) ..."
	@$(PIP) install 'torch==2.13.0'
	@touch $@

$(VENV)/.%: $(VENV)/.core
	@echo "Installing what '$*' needs into $(VENV) ..."
	@$(PIP) install --editable '.[$*]'
	@touch $@
