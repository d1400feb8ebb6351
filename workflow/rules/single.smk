# One capture by itself: `snakemake <id>`.


rule show_one:
    input:
        one_estimates,
    output:
        "results/samples/{shard}/pictures.parquet",
    log:
        "results/logs/show_one/{shard}.log",
    conda:
        "../../environment.yml"
    params:
        # A model and a method may have one name.
        by_stage=True,
        code=code_version("workflow.lib.views"),
    script:
        "../scripts/show_pictures.py"


rule tabulate_one_blur:
    input:
        samples=[f"{SINGLE}/samples/{{shard}}.json"],
        scores=[f"{SINGLE}/score_blur/{{shard}}.json"],
    output:
        "results/samples/{shard}/blur.parquet",
    log:
        "results/logs/tabulate_one_blur/{shard}.log",
    conda:
        "../../environment.yml"
    params:
        code=code_version("workflow.lib.tables"),
    script:
        "../scripts/tabulate_blur.py"


rule tabulate_one_restoration:
    input:
        samples=[f"{SINGLE}/samples/{{shard}}.json"],
        scores=[f"{SINGLE}/score_restorations/{{shard}}.json"],
    output:
        "results/samples/{shard}/restoration.parquet",
    log:
        "results/logs/tabulate_one_restoration/{shard}.log",
    conda:
        "../../environment.yml"
    params:
        code=code_version("workflow.lib.tables"),
    script:
        "../scripts/tabulate_restorations.py"


# A capture may not hide a target of the workflow.
TARGETS = {rule.name for rule in workflow.rules} | {"all"}

# What runs a job on another machine is given the job, not the id.
for name, named in (one_names() if workflow.is_main_process else {}).items():
    if name not in TARGETS:

        rule:
            name:
                name
            input:
                [path for unit in named for path in one_results(unit)],
