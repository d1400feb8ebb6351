"""Write the report."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    from pathlib import Path

    from workflow.lib.site.sources import Sources
    from workflow.lib.site.write import write_report
    from workflow.lib.store import STORE, Store

    given = snakemake.input
    sources = Sources(
        **{name: given[name] for name in ("pages", "captures", "index", "history", "left_out", "costs", "lpips")},
        metrics={"blur": given.blur, "restoration": given.restoration},
        pictures={"blur": given.blurred, "restoration": given.restored},
        figures=given.get("figures", []),
        ablation=snakemake.params.ablation if snakemake.params.ablated else None,
        paper=Path(given.paper[0]).parent,
        **{name: snakemake.params[name] for name in ("models", "patterns", "pick")},
    )
    write_report(Path(snakemake.output[0]).parent, sources, Store(STORE))
