"""Make the report's pages of all samples."""

from workflow.lib.job import job

# Many pages at a time, each with one thread.
with job(snakemake.log[0]):
    from workflow.lib.manifest import Task
    from workflow.lib.stages.pages import page_samples

    given = snakemake.input
    page_samples(
        Task.of(snakemake.output[0], snakemake.params),
        index=given.index,
        metrics={"blur": given.blur, "restoration": given.restoration},
        pictures={"blur": given.blurred, "restoration": given.restored},
        threads=snakemake.threads,
    )
