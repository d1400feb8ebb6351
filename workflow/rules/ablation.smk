# ICB with other parameters on some samples: `snakemake ablation`. Blurred and scored by the rules for all models.


rule ablation:
    input:
        UNPACKED,
        expand("results/tables/ablation.{format}", format=summaries.FORMATS),


rule choose_samples:
    input:
        samples_to_ablate,
    output:
        f"{ABLATION}/samples/{{shard}}.json",
    log:
        "results/logs/choose_samples/{shard}.log",
    conda:
        "../../environment.yml"
    params:
        units=ablation_units,
        code=code_version("workflow.lib.selection"),
    script:
        "../scripts/choose_samples.py"


rule tabulate_ablation:
    input:
        samples=ablation_shards("samples"),
        scores=ablation_shards("score_blur"),
    output:
        "results/metrics/ablation.parquet",
    log:
        "results/logs/tabulate_ablation.log",
    conda:
        "../../environment.yml"
    params:
        code=code_version("workflow.lib.tables"),
    script:
        "../scripts/tabulate_blur.py"


rule write_ablation:
    input:
        blur="results/metrics/ablation.parquet",
        lpips="results/lpips.json",
        paper=PAPER,
    output:
        table_files([summaries.ABLATION]),
    log:
        "results/logs/write_ablation.log",
    conda:
        "../../environment.yml"
    params:
        code=code_version("workflow.lib.summaries.write"),
    script:
        "../scripts/write_ablation.py"
