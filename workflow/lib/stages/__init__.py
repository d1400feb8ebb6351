"""One module a stage: what a job does with a shard of samples. None of them knows of Snakemake."""
