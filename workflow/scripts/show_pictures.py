"""Put pictures together by model."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from workflow.lib.store import STORE, Store
    from workflow.lib.views import show_pictures

    show_pictures(snakemake.output[0], snakemake.input, Store(STORE), by_stage=snakemake.params.get("by_stage", False))
