"""Draw all figures."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from pathlib import Path

    from workflow.lib.drawing import draw_figures, read_run

    given, wanted = snakemake.input, snakemake.params
    run = read_run(
        samples=given.samples,
        tables=(given.blur, given.restoration, given.history),
        blurred=given.blurred,
        restored=given.restored,
        models=wanted.models,
        methods=wanted.methods,
        patterns=wanted.patterns,
        pick=wanted.pick,
    )
    draw_figures(run, wanted.figures, Path("results/figures"))
