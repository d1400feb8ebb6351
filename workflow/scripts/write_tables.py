"""Write the paper's tables of this run."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from pathlib import Path

    from workflow.lib.summaries.write import write_tables

    given = snakemake.input
    write_tables(
        Path(snakemake.output[0]).parent,
        index=given.index,
        blur=given.blur,
        restoration=given.restoration,
        cost=given.cost,
        lpips=given.lpips,
        paper=Path(given.paper[0]).parent,
    )
