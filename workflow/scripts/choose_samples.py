"""Choose the samples of a shard of the ablation."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.selection import select

    select(snakemake.output[0], snakemake.input, snakemake.params.units)
