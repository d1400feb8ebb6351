"""Restore the samples of a shard with one method."""

from workflow.lib.devices import one_gpu
from workflow.lib.job import job

wanted = snakemake.resources.get("gpu", 0) > 0
with job(snakemake.log[0], threads=snakemake.threads), one_gpu(wanted=wanted) as gpu:
    print(f"GPU: {gpu or 'none'}")
    from workflow.lib.manifest import Task
    from workflow.lib.stages.restore import restore_samples

    task = Task.of(snakemake.output[0], snakemake.params)
    restore_samples(
        task,
        snakemake.input,
        snakemake.params.units,
        name=snakemake.wildcards.method,
        settings=snakemake.params.settings,
        model=snakemake.params.model,
        crop=snakemake.params.crop,
        threads=snakemake.threads,
    )
