# Two commands: `make demo` and `make test`. Both set everything up; nothing is needed before but
# make, Python 3.11+ with venv, and a C++ compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
DOCS_STAMP := $(VENV)/.installed-docs
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
DEMO_STORE := build/demo.sqlite
DEMO_FILES := solutions/gemm-multiply-leakyrelu $(addprefix solutions/vector-add/samples/,naive.cu vectorized.cu triton.py)

HAS_GPU := $(BIN)/python -m tools.has_gpu
DEMO_PROBLEMS := gemm-multiply-leakyrelu vector-add
DEMO_BOARDS := $(sort $(wildcard leaderboard/boards/*.jsonl))

.DELETE_ON_ERROR:
# `make verify`: how many grades, and the seed of the first.
GRADES ?= 40
SEED ?= 1
VERIFIED := $(patsubst problems/%/,verify-%,$(wildcard problems/*/))

.PHONY: setup check demo test corpus verify $(VERIFIED) explore lint docs clean

setup: $(DEV_STAMP)

# The CUDA compiler comes from pip only where the machine has none. pip compiles to bytecode on one
# processor, which takes most of the time: so that is done on all of them, at the end; files of
# packages that are no Python of this version are left out.
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --no-compile torch
	$(PIP) --no-compile -e .
	$(BIN)/python -m tools.has_nvcc || $(PIP) -e '.[nvcc]' || echo "no CUDA compiler: see 'harness doctor'"
	@$(BIN)/python -m compileall -q -j 0 $(VENV)/lib >/dev/null 2>&1 || true
	touch $@

$(DEV_STAMP): $(STAMP)
	$(PIP) -e '.[dev]'
	touch $@

# The verdict on a file of one's own, from a fresh clone as well:
# make check FILE=~/mine.cu PROBLEM=vector-add
check: $(STAMP)
	$(BIN)/harness check $(FILE) $(if $(PROBLEM),--problem $(PROBLEM))

demo: $(STAMP)
	mkdir -p build
	rm -f $(DEMO_STORE)*
	$(BIN)/harness submit $(DEMO_FILES) --store $(DEMO_STORE) || test $$? -eq 1
	@$(HAS_GPU) || $(BIN)/harness import $(DEMO_BOARDS) --store $(DEMO_STORE)
	$(BIN)/harness site --all --store $(DEMO_STORE) --out build/site
	@$(HAS_GPU) || echo "No GPU here, so these files have verdicts alone. Boards that were measured on one:"
	$(foreach problem,$(DEMO_PROBLEMS),$(BIN)/harness leaderboard $(problem) --all --store $(DEMO_STORE) &&) true
	@echo "All boards as a table: build/site/boards.csv; as a web site: build/site/index.html"

test: lint
	$(BIN)/python -m pytest -n auto

# Every example, baseline and solution of every problem, every problem verified, hostile submissions,
# the commands of README and tutorial.
corpus: $(DEV_STAMP)
	$(BIN)/python -m pytest -n auto -m corpus

# Every problem verified in all data types, with its examples: hours for one processor, so let some
# problems go side by side: `make -j4 -O verify`. CI does it with GRADES=2.
verify: $(VERIFIED)

$(VERIFIED): verify-%: $(STAMP)
	$(BIN)/harness verify $* --grades $(GRADES) --seed $(SEED)

# Property tests alone, with examples that no run had before; what fails is kept in .hypothesis and
# tried first the next time. Then problems with seeds that no run had; those are in the report.
explore: $(DEV_STAMP)
	$(BIN)/python -m pytest -n auto -m hypothesis --hypothesis-profile explore
	$(BIN)/harness verify --grades 3 --no-examples

lint: $(DEV_STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# The pages as a web site in build/docs; a link or an anchor that leads nowhere fails. Sphinx with
# MyST: MkDocs has had no release since 2024, Material for MkDocs ended in November 2026, and their
# successor Zensical is at 0.1.
docs: $(DOCS_STAMP)
	$(BIN)/python -m sphinx -W --keep-going -n -q -d build/doctrees docs build/docs
	@echo "The pages: build/docs/index.html"

$(DOCS_STAMP): $(DEV_STAMP)
	$(PIP) -e '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) build
