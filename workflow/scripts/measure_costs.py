"""Measure what the models cost."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.manifest import Task
    from workflow.lib.progress import Ticker
    from workflow.lib.stages.costs import measure_costs
    from workflow.lib.store import STORE, Store

    wanted = snakemake.params
    # Samples that were blurred can be measured: that one cannot is an error, not something to leave out.
    task = Task(snakemake.output[0], "", True, Store(STORE), Ticker(f"{wanted.stage}/"))
    measure_costs(
        task,
        snakemake.input,
        models=wanted.models,
        codes=wanted.codes,
        patterns=wanted.patterns,
        threads=wanted.threads,
    )
