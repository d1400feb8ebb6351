"""Write the table of the ablation."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from pathlib import Path

    from workflow.lib.summaries.write import write_ablation

    given = snakemake.input
    folder, paper = Path(snakemake.output[0]).parent, Path(given.paper[0]).parent
    write_ablation(folder, blur=given.blur, lpips=given.lpips, paper=paper)
