"""Render one raw capture."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from pathlib import Path

    from datasets.simulate.default_set import Capture, simulate_set
    from workflow.lib.progress import Ticker, job_name

    ticker = Ticker(job_name(snakemake.params.stage, snakemake.output[0]))
    ticker.begin(1)
    settings = snakemake.params.settings
    simulate_set(Path(snakemake.output[0]).parent, [Capture(**settings["capture"])], **settings["shared"])
    ticker.tick("made")
