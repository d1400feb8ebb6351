"""Write the table of what the models cost."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.tables import write_costs

    write_costs(snakemake.output[0], snakemake.input[0])
