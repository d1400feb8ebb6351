"""Compare the estimates of a shard with what was captured."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.manifest import Task
    from workflow.lib.stages.score import score_samples

    task = Task.of(snakemake.output[0], snakemake.params)
    given, wanted = snakemake.input, snakemake.params
    score_samples(task, given.samples, given.estimates, wanted.units, target=wanted.target, weights=given.weights)
