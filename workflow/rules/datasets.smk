# Samples from captures, and the datasets that they make up.


rule datasets:
    input:
        UNPACKED,
        "results/captures.parquet",
        "results/datasets/index.parquet",


rule build_samples:
    input:
        f"{MANIFESTS}/captures/{{shard}}.json",
    output:
        f"{MANIFESTS}/samples/{{shard}}.json",
    log:
        "results/logs/samples/{scope}/{shard}.log",
    benchmark:
        "results/benchmarks/samples/{scope}/{shard}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(1500),
        runtime=minutes(0.5),
    params:
        stage="samples",
        options=asdict(configuration.build_options(config)),
        code=code_version("workflow.lib.stages.samples"),
        strict=STRICT,
    script:
        "../scripts/build_samples.py"


rule show_datasets:
    input:
        manifests("samples"),
    output:
        "results/datasets/index.parquet",
    log:
        "results/logs/show_datasets.log",
    conda:
        "../../environment.yml"
    params:
        code=code_version("workflow.lib.views"),
    script:
        "../scripts/show_datasets.py"


rule list_captures:
    input:
        captures=manifests("captures"),
        samples=manifests("samples"),
    output:
        "results/captures.parquet",
    log:
        "results/logs/list_captures.log",
    conda:
        "../../environment.yml"
    params:
        units=lambda wildcards: [asdict(unit) for unit in units()],
        code=code_version("workflow.lib.tables"),
    script:
        "../scripts/list_captures.py"
