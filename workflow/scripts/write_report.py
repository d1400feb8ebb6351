"""Write the report."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.report import write_report

    write_report(snakemake.output[0], **dict(snakemake.input.items()))
