"""Put the datasets together in the published layout."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from pathlib import Path

    from workflow.lib.views import show_datasets

    show_datasets(Path(snakemake.output[0]).parent, snakemake.input)
