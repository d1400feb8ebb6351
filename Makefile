# Two commands to know: `make demo` and `make test`. Each sets up all it needs first.
.PHONY: demo test test-slow lint format bench bench-pipeline pictures lock setup setup-for-tests clean help

BIN := .venv/bin

help:  ## Say what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup:  ## Install everything into .venv (done by the other commands by themselves)
	@bash .ci/setup

demo: setup  ## Run the pipeline on its embedded default: simulated captures to tables and a report
	@$(BIN)/snakemake
	@echo "Look at $(CURDIR)/results/report/index.html"

setup-for-tests:
	@bash .ci/setup --for-tests

test: setup-for-tests  ## Run the tests
	@$(BIN)/python -m pytest

test-slow: setup-for-tests  ## Run the slow tests too
	@$(BIN)/python -m pytest -m 'slow or not slow'

lint: setup  ## ruff, mypy, snakefmt and Snakemake's own
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/snakefmt --check Snakefile workflow/rules
	@$(BIN)/snakemake --lint

format: setup  ## Put the code in order, and make what is made from it
	@$(BIN)/ruff check --fix-only
	@$(BIN)/ruff format
	@$(BIN)/snakefmt Snakefile workflow/rules
	@$(BIN)/python -m workflow.lib.configuration > config/README.md

bench: setup  ## Measure speed and memory: results/bench/*.parquet
	@$(BIN)/python -m tests.bench

bench-pipeline: setup  ## Measure the pipeline on 1,000 tiny captures: results/bench/pipeline.parquet
	@$(BIN)/python -m tests.bench.pipeline

pictures: setup-for-tests  ## Make the README's pictures again, after make demo
	@$(BIN)/python -m tests.readme_pictures

lock: setup  ## Pin the versions that are installed now, after changing pyproject.toml
	@(echo "# Every package of the set-up, pinned. Made by: make lock"; \
	    $(BIN)/pip freeze --all --exclude-editable | sed -E 's/\+cpu//; s/^open3d-cpu(==.*)/&\nopen3d\1/' | \
	    grep -v '^pip==' | LC_ALL=C sort -f) > .constraints
	@mv .constraints constraints.txt

clean:  ## Remove what was made, .venv included
	rm -rf .venv results .snakemake .pytest_cache .mypy_cache .ruff_cache build ./*.egg-info
	find . -name __pycache__ -prune -exec rm -rf {} +
