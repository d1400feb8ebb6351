"""Obtain the weights of LPIPS."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.lpips_weights import obtain

    obtain(snakemake.output[0], wanted=snakemake.params.wanted, path=snakemake.params.path)
