# Raw captures: rendered, unpacked, or found in folders; then looked into.


rule simulate_capture:
    output:
        directory(f"{configuration.CAPTURES}/{{capture}}"),
    log:
        "results/logs/simulate/{capture}.log",
    benchmark:
        "results/benchmarks/simulate/{capture}.tsv"
    wildcard_constraints:
        capture="|".join(map(re.escape, SIMULATIONS)) or "(?!)",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(2000),
        runtime=minutes(0),
    params:
        stage="simulate",
        settings=lambda wildcards: SIMULATIONS[wildcards.capture],
        code=code_version("datasets.simulate.default_set"),
    script:
        "../scripts/simulate_capture.py"


checkpoint unpack_archive:
    output:
        directory(f"{configuration.ARCHIVES}/{{archive}}"),
    log:
        "results/logs/archives/{archive}.log",
    wildcard_constraints:
        archive="|".join(map(re.escape, ARCHIVES)) or "(?!)",
    conda:
        "../../environment.yml"
    params:
        archive=lambda wildcards: ARCHIVES[wildcards.archive],
    script:
        "../scripts/unpack_archive.py"


rule index_captures:
    input:
        simulated_folders,
    output:
        f"{MANIFESTS}/captures/{{shard}}.json",
    log:
        "results/logs/captures/{scope}/{shard}.log",
    benchmark:
        "results/benchmarks/captures/{scope}/{shard}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(1500),
        runtime=minutes(0.5),
    params:
        stage="captures",
        units=shard_units,
        options=asdict(configuration.build_options(config)),
        code=code_version("workflow.lib.stages.captures"),
        strict=STRICT,
    script:
        "../scripts/index_captures.py"
