"""List all captures, used or not."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.tables import write_captures
    from workflow.lib.units import Unit

    units = [Unit(**row) for row in snakemake.params.units]
    given = snakemake.input
    write_captures(snakemake.output[0], units, given.captures, given.samples)
