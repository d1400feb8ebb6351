# Two commands to know: `make demo` and `make test`. Each sets up all it needs first.
.PHONY: demo test test-slow lint format bench lock setup clean help

BIN := .venv/bin

help:  ## Say what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup:  ## Install everything into .venv (done by the other commands by themselves)
	@bash .ci/setup

demo: setup  ## Blur a bundled photo and show where the results are
	@$(BIN)/icb example results/demo >/dev/null
	@$(BIN)/icb blur results/demo/motorcycle.png results/demo/motorcycle-depth.png --depth-unit 0.001 \
	    --focal 994.978 --truck 60 -o results/demo/blurred.png
	@$(BIN)/icb explain results/demo/motorcycle.png results/demo/motorcycle-depth.png --depth-unit 0.001 \
	    --focal 994.978 --shake 30 -o results/demo/explained.png
	@echo "Look at $(CURDIR)/results/demo/blurred.png and explained.png"

test: setup  ## Run the tests
	@$(BIN)/python -m pytest

test-slow: setup  ## Run the slow tests too
	@$(BIN)/python -m pytest -m 'slow or not slow'

lint: setup  ## ruff and mypy
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

format: setup  ## Let ruff put the code in order
	@$(BIN)/ruff check --fix-only
	@$(BIN)/ruff format

bench: setup  ## Measure speed and memory: results/bench/*.parquet
	@$(BIN)/python -m tests.bench

lock: setup  ## Pin the versions that are installed now, after changing pyproject.toml
	@(echo "# Every package of the set-up, pinned. Made by: make lock"; \
	    $(BIN)/pip freeze --all --exclude-editable | sed -E 's/\+cpu//; s/^open3d-cpu(==.*)/&\nopen3d\1/' | \
	    grep -v '^pip==' | LC_ALL=C sort -f) > .constraints
	@mv .constraints constraints.txt

clean:  ## Remove what was made, .venv included
	rm -rf .venv results .pytest_cache .mypy_cache .ruff_cache build ./*.egg-info
	find . -name __pycache__ -prune -exec rm -rf {} +
