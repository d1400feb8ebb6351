# What a run came to, for people.


rule report:
    input:
        UNPACKED,
        "results/report/index.html",


rule write_report:
    input:
        captures="results/captures.parquet",
        blur="results/metrics/blur.parquet",
        restoration="results/metrics/restoration.parquet",
        left_out="results/metrics/left_out.parquet",
        lpips="results/lpips.json",
    output:
        "results/report/index.html",
    log:
        "results/logs/write_report.log",
    conda:
        "../../environment.yml"
    params:
        code=code_version("workflow.lib.report"),
    script:
        "../scripts/write_report.py"


rule prune:
    input:
        all_manifests,
        COSTS,
    log:
        "results/logs/prune.log",
    conda:
        "../../environment.yml"
    params:
        optional=ablation_manifests,
    script:
        "../scripts/prune.py"
