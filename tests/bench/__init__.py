"""Benchmarks: ``python -m tests.bench``. Times are compared as ratios within one run."""
