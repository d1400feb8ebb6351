"""Look into the captures of a shard."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from datasets.build import Options
    from workflow.lib.manifest import Task
    from workflow.lib.stages.captures import index_captures
    from workflow.lib.units import Unit

    units = [Unit(row["name"], row["path"], row["origin"], row["dataset"]) for row in snakemake.params.units]
    task = Task.of(snakemake.output[0], snakemake.params)
    index_captures(task, units, options=Options(**snakemake.params.options), taken=snakemake.params.taken)
