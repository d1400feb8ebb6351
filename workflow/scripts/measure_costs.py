"""Measure what the models cost."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.manifest import Task
    from workflow.lib.progress import Ticker
    from workflow.lib.stages.costs import measure_costs
    from workflow.lib.store import STORE, Store

    wanted = snakemake.params
    # Each model has a code of its own.
    task = Task(snakemake.output[0], "", wanted.strict, Store(STORE), Ticker(f"{wanted.stage}/"))
    measure_costs(
        task,
        snakemake.input.samples,
        snakemake.input.blurred,
        models=wanted.models,
        codes=wanted.codes,
        patterns=wanted.patterns,
        threads=wanted.threads,
    )
