"""Remove from the store what no current result needs."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.prune import prune

    prune(snakemake.input, snakemake.params.optional)
