"""Fetch and unpack one archive."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.archives import obtain

    obtain(snakemake.params.archive["source"], snakemake.params.archive["checksum"], snakemake.output[0])
