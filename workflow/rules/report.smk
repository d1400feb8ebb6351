# What a run came to, for people: a site made from tables and stored pictures alone.
from workflow.lib.site import templates

PAGES = f"{ALL}/pages/all.json"
# What models and methods made of the samples: the metrics, and tables of the pictures.
MADE = {
    "blur": "results/metrics/blur.parquet",
    "restoration": "results/metrics/restoration.parquet",
    "blurred": "results/blur/pictures.parquet",
    "restored": "results/restoration/pictures.parquet",
}


rule report:
    input:
        UNPACKED,
        "results/report/index.html",


rule page_samples:
    input:
        **MADE,
        index="results/datasets/index.parquet",
    output:
        PAGES,
    log:
        "results/logs/page_samples.log",
    benchmark:
        "results/benchmarks/pages/all/all.tsv"
    conda:
        "../../environment.yml"
    threads: 4
    resources:
        mem_mb=memory(4000),
        runtime=page_minutes,
    params:
        stage="pages",
        code=code_version("workflow.lib.stages.pages"),
        templates=templates.version(templates.SAMPLE_PAGE),
        strict=STRICT,
    script:
        "../scripts/page_samples.py"


rule write_report:
    input:
        **MADE,
        pages=PAGES,
        captures="results/captures.parquet",
        index="results/datasets/index.parquet",
        history="results/metrics/history.parquet",
        left_out="results/metrics/left_out.parquet",
        costs="results/metrics/costs.parquet",
        lpips="results/lpips.json",
        figures=rules.draw_figures.output,
        paper=PAPER,
    output:
        "results/report/index.html",
    log:
        "results/logs/write_report.log",
    conda:
        "../../environment.yml"
    params:
        code=code_version("workflow.lib.site.write"),
        templates=templates.version(),
        models={"blur": list(MODELS), "restoration": list(METHODS)},
        patterns=config["figures"]["samples"],
        pick=config["figures"]["pick"],
        # Shown if it was made before; not made for the report's sake. `snakemake ablation report` orders nothing.
        ablation="results/metrics/ablation.parquet",
        ablated=configuration.state_of("results/metrics/ablation.parquet"),
    script:
        "../scripts/write_report.py"


rule prune:
    input:
        all_manifests,
    log:
        "results/logs/prune.log",
    conda:
        "../../environment.yml"
    params:
        # Not every run has these.
        optional=lambda wildcards: [PAGES, *ablation_manifests(wildcards)],
    script:
        "../scripts/prune.py"
