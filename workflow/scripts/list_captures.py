"""List all captures, used or not."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.tables import write_captures
    from workflow.lib.units import Unit

    units = [Unit(**row) for row in snakemake.params.units]
    write_captures(snakemake.output[0], units, snakemake.input.captures, snakemake.input.samples)
