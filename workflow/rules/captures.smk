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
        # A small mark. What was unpacked lies beside it and is nobody's output, so that it is never removed.
        f"{configuration.ARCHIVES}/{{archive}}/unpacked.json",
    log:
        "results/logs/archives/{archive}.log",
    wildcard_constraints:
        archive="|".join(map(re.escape, ARCHIVES)) or "(?!)",
    conda:
        "../../environment.yml"
    params:
        # Neither the version of the code: it copies files as they are.
        checksum=lambda wildcards: ARCHIVES[wildcards.archive]["checksum"],
    script:
        "../scripts/unpack_archive.py"


rule index_captures:
    input:
        simulated_folders,
        archives_of_shard,
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
        taken=taken_ids,
        options=asdict(configuration.build_options(config)),
        code=code_version("workflow.lib.stages.captures"),
        strict=STRICT,
    script:
        "../scripts/index_captures.py"
