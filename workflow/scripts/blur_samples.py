"""Blur the samples of a shard with one model."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.manifest import Task
    from workflow.lib.stages.blur import blur_samples

    task = Task.of(snakemake.output[0], snakemake.params)
    blur_samples(task, snakemake.input[0], name=snakemake.wildcards.model, model=snakemake.params.model)
