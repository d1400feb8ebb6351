"""Measure what the models cost."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.manifest import Task
    from workflow.lib.stages.costs import measure_costs

    wanted = snakemake.params
    measure_costs(
        Task.of(snakemake.output[0], wanted),
        snakemake.input.samples,
        snakemake.input.blurred,
        models=wanted.models,
        codes=wanted.codes,
        patterns=wanted.patterns,
        threads=wanted.threads,
    )
