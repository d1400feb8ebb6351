# Sharp pictures from blurry ones, and how close they come to the sharp ones that were captured.


rule restore:
    input:
        UNPACKED,
        "results/restoration/pictures.parquet",


rule restore_samples:
    input:
        samples_to_restore,
    output:
        f"{MANIFESTS}/restore/{{method}}/{{shard}}.json",
    log:
        "results/logs/restore/{method}/{scope}/{shard}.log",
    benchmark:
        "results/benchmarks/restore/{method}/{scope}/{shard}.tsv"
    conda:
        "../../environment.yml"
    # One thread by itself, so that any number of cores gives the same picture; --set-threads changes it.
    threads: 1
    resources:
        mem_mb=memory(4000),
        runtime=fit_minutes,
        gpu=fit_gpus,
    params:
        stage="restore {method}",
        units=restoration_units,
        settings=lambda wildcards: configuration.restoration_settings(METHODS[wildcards.method]),
        model=method_model,
        crop=config["restore"]["crop"],
        code=restore_code,
        strict=STRICT,
    script:
        "../scripts/restore_samples.py"


rule score_restorations:
    input:
        samples=samples_to_score,
        estimates=restorations_to_score,
        weights="results/lpips.json",
    output:
        f"{MANIFESTS}/score_restorations/{{shard}}.json",
    log:
        "results/logs/score_restorations/{scope}/{shard}.log",
    benchmark:
        "results/benchmarks/score_restorations/{scope}/{shard}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(4000),
        runtime=minutes(1),
    params:
        stage="score restorations",
        target="sharp",
        units=scored_units,
        code=code_version("workflow.lib.stages.score"),
        strict=STRICT,
    script:
        "../scripts/score_samples.py"


rule show_restorations:
    input:
        restoration_manifests,
    output:
        "results/restoration/pictures.parquet",
    log:
        "results/logs/show_restorations.log",
    conda:
        "../../environment.yml"
    params:
        code=code_version("workflow.lib.views"),
    script:
        "../scripts/show_pictures.py"
