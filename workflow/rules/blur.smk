# Blur by each model, and how close it comes to the blur that was captured.


rule blur:
    input:
        UNPACKED,
        "results/blur/pictures.parquet",


rule blur_samples:
    input:
        f"{MANIFESTS}/samples/{{shard}}.json",
    output:
        f"{MANIFESTS}/blur/{{model}}/{{shard}}.json",
    log:
        "results/logs/blur/{model}/{scope}/{shard}.log",
    benchmark:
        "results/benchmarks/blur/{model}/{scope}/{shard}.tsv"
    wildcard_constraints:
        scope=BLURRED,
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(1500),
        runtime=minutes(0.25),
    params:
        stage="blur {model}",
        model=lambda wildcards: OPERATORS[wildcards.model],
        code=blur_code,
        strict=STRICT,
    script:
        "../scripts/blur_samples.py"


rule score_blur:
    input:
        samples=[f"{MANIFESTS}/samples/{{shard}}.json"],
        estimates=blur_estimates,
        weights="results/lpips.json",
    output:
        f"{MANIFESTS}/score_blur/{{shard}}.json",
    log:
        "results/logs/score_blur/{scope}/{shard}.log",
    benchmark:
        "results/benchmarks/score_blur/{scope}/{shard}.tsv"
    wildcard_constraints:
        scope=BLURRED,
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(4000),
        runtime=minutes(1),
    params:
        stage="score blur",
        target="blurry",
        units=None,
        code=code_version("workflow.lib.stages.score"),
        strict=STRICT,
    script:
        "../scripts/score_samples.py"


rule show_blur:
    input:
        blur_manifests,
    output:
        "results/blur/pictures.parquet",
    log:
        "results/logs/show_blur.log",
    conda:
        "../../environment.yml"
    params:
        code=code_version("workflow.lib.views"),
    script:
        "../scripts/show_pictures.py"
