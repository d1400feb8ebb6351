"""The report: a static site about a run, made from its tables and stored pictures alone."""
