# Tables for pandas, DuckDB, polars and everybody else.


rule tables:
    input:
        UNPACKED,
        "results/metrics/blur.parquet",
        "results/metrics/restoration.parquet",
        "results/metrics/history.parquet",
        "results/metrics/left_out.parquet",
        "results/metrics/costs.parquet",
        expand("results/tables/{table}.{format}", table=summaries.TABLES, format=summaries.FORMATS),


rule obtain_lpips_weights:
    output:
        "results/lpips.json",
    log:
        "results/logs/obtain_lpips_weights.log",
    conda:
        "../../environment.yml"
    params:
        wanted=config["score"]["lpips"],
        path=config["score"]["weights"],
        file=configuration.state_of(config["score"]["weights"]),
        code=code_version("workflow.lib.lpips_weights"),
    script:
        "../scripts/obtain_lpips_weights.py"


rule tabulate_blur:
    input:
        samples=manifests("samples"),
        scores=manifests("score_blur"),
    output:
        "results/metrics/blur.parquet",
    log:
        "results/logs/tabulate_blur.log",
    conda:
        "../../environment.yml"
    params:
        code=code_version("workflow.lib.tables"),
    script:
        "../scripts/tabulate_blur.py"


rule tabulate_restorations:
    input:
        samples=manifests("samples"),
        scores=restoration_scores,
    output:
        "results/metrics/restoration.parquet",
    log:
        "results/logs/tabulate_restorations.log",
    conda:
        "../../environment.yml"
    params:
        code=code_version("workflow.lib.tables"),
    script:
        "../scripts/tabulate_restorations.py"


rule tabulate_history:
    input:
        restoration_manifests,
    output:
        "results/metrics/history.parquet",
    log:
        "results/logs/tabulate_history.log",
    conda:
        "../../environment.yml"
    params:
        code=code_version("workflow.lib.tables"),
    script:
        "../scripts/tabulate_history.py"


rule tabulate_left_out:
    input:
        all_manifests,
    output:
        "results/metrics/left_out.parquet",
    log:
        "results/logs/tabulate_left_out.log",
    conda:
        "../../environment.yml"
    params:
        code=code_version("workflow.lib.tables"),
    script:
        "../scripts/tabulate_left_out.py"


rule measure_costs:
    input:
        samples=manifests("samples"),
        blurred=blur_manifests,
    output:
        COSTS,
    log:
        "results/logs/measure_costs.log",
    conda:
        "../../environment.yml"
    threads: cost_threads
    resources:
        mem_mb=memory(4000),
        runtime=minutes(1),
    params:
        stage="costs",
        models=MODELS,
        # Each model has one of its own.
        code="",
        codes=cost_codes,
        patterns=config["costs"]["samples"],
        threads=config["costs"]["threads"],
        strict=STRICT,
    script:
        "../scripts/measure_costs.py"


rule tabulate_costs:
    input:
        COSTS,
    output:
        "results/metrics/costs.parquet",
    log:
        "results/logs/tabulate_costs.log",
    conda:
        "../../environment.yml"
    params:
        code=code_version("workflow.lib.tables"),
    script:
        "../scripts/tabulate_costs.py"


rule write_tables:
    input:
        index="results/datasets/index.parquet",
        blur="results/metrics/blur.parquet",
        restoration="results/metrics/restoration.parquet",
        cost="results/metrics/costs.parquet",
        lpips="results/lpips.json",
        paper=PAPER,
    output:
        table_files(summaries.TABLES),
    log:
        "results/logs/write_tables.log",
    conda:
        "../../environment.yml"
    params:
        code=code_version("workflow.lib.summaries.write"),
    script:
        "../scripts/write_tables.py"
