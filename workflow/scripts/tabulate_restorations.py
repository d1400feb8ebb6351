"""Write the table of restorations."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.tables import write_restorations

    write_restorations(snakemake.output[0], snakemake.input.samples, snakemake.input.scores)
