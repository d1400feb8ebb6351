"""Write the table of how fits went."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.store import STORE, Store
    from workflow.lib.tables import write_history

    write_history(snakemake.output[0], snakemake.input, Store(STORE))
