"""List everything that was left out."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.tables import write_left_out

    write_left_out(snakemake.output[0], snakemake.input)
