"""Write the table of blur formation."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.tables import write_blur

    write_blur(snakemake.output[0], snakemake.input.samples, snakemake.input.scores)
