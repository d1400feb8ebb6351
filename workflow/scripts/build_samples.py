"""Build the samples of a shard."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from datasets.build import Options
    from workflow.lib.manifest import Task
    from workflow.lib.stages.samples import build_samples

    task = Task.of(snakemake.output[0], snakemake.params)
    build_samples(task, snakemake.input[0], options=Options(**snakemake.params.options))
