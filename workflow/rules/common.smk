# What all rules share: the validated configuration, the units to work on, and the shards they are worked on in.
import re
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path

# The project's own packages are imported from the repository, here and in scripts.
sys.path.insert(0, str(workflow.basedir))

from workflow.lib import cluster, configuration, job, manifest, models, progress, prune, run, summaries
from workflow.lib.code_version import code_version
from workflow.lib.shards import Shards, label
from workflow.lib.units import SIMULATED, fingerprint

if not workflow.is_main_process:
    job.require_current()
run.share_packages(str(workflow.basedir))
run.quieten()
configuration.complete(config)
configuration.check_methods(config)

SIMULATIONS = configuration.simulations(config)
ARCHIVES = configuration.archives(config)
# Asked for by every target: that a new one must be unpacked does not follow from tables that are there already.
UNPACKED = [f"{configuration.ARCHIVES}/{archive}/unpacked.json" for archive in ARCHIVES]
MODELS = configuration.blur_models(config)
VARIANTS = configuration.variants(config)
OPERATORS = {**VARIANTS, **MODELS}
STRICT = config["strict"]

METHODS = config["restore"]["methods"]

MANIFESTS = f"{manifest.FOLDER}/{{scope}}"
ALL = f"{manifest.FOLDER}/all"
SINGLE = f"{manifest.FOLDER}/one"
ABLATION = f"{manifest.FOLDER}/ablation"
COSTS = f"{ALL}/costs/all.json"
# What blur is worked out and scored in: the ablation has samples of its own, chosen from all.
BLURRED = "all|one|ablation"

# The paper's own numbers.
PAPER = sorted(str(path) for path in Path(workflow.basedir).glob("config/paper/*.csv"))
# Not those of what is not even wanted; whether anything comes of what is, is seen when it is drawn.
FIGURES = [
    name
    for name in config["figures"]["draw"]
    if name not in ("fig6_restoration", "loss_curves") or (METHODS and config["restore"]["samples"])
]


def in_report(path, category):
    """A result that `snakemake --report` shows, with the caption of its name."""
    caption = Path(workflow.basedir) / "workflow" / "report" / f"{Path(path).stem}.rst"
    return report(path, caption=str(caption), category=category, labels={"name": Path(path).stem})


def table_files(names):
    """A table in every format; the one that can be looked at is shown in reports."""
    paths = expand("results/tables/{table}.{format}", table=names, format=summaries.FORMATS)
    return [in_report(path, "Tables") if path.endswith(".html") else path for path in paths]


wildcard_constraints:
    # Everything in shards, or one capture by itself.
    scope="all|one",
    shard=r"[A-Za-z0-9_.-]+",
    model="|".join(map(re.escape, OPERATORS)),
    method="|".join(map(re.escape, METHODS)) or "(?!)",


def units():
    """Everything there is to work on, known once all archives are unpacked."""
    for archive in ARCHIVES:
        # One that is there is whole, and may be looked into before Snakemake knows of checkpoints.
        if not configuration.unpacked(archive).is_dir():
            checkpoints.unpack_archive.get(archive=archive)
    return _listed()


def all_unpacked():
    """Whether the units are known."""
    return all(configuration.unpacked(archive).is_dir() for archive in ARCHIVES)


@cache
def _listed():
    return configuration.units(config)


@cache
def shards():
    """Captures that share a job of the short stages."""
    return Shards(units(), config["samples_per_job"])


@cache
def restorations():
    """Captures that share a job of restoration."""
    return Shards(configuration.to_restore(config, units()), config["restorations_per_job"])


@cache
def scored_restorations():
    """Captures whose restorations share a job of scoring, which is short work again."""
    return Shards(configuration.to_restore(config, units()), config["samples_per_job"])


@cache
def ablations():
    """Captures that share a job of the ablation; fewer than elsewhere, because each is scored for all variants."""
    chosen = configuration.to_ablate(config, units())
    return Shards(chosen, -(-config["samples_per_job"] // 4))


_fingerprint = cache(fingerprint)


def shard_units(wildcards):
    """The captures of a shard, with a fingerprint of their files, so that a change is noticed."""
    return [
        {**asdict(unit), "files": None if unit.origin == SIMULATED else _fingerprint(unit)}
        for unit in shards().members(wildcards.shard)
    ]


@cache
def _taken():
    return configuration.taken(config, units())


def taken_ids(wildcards):
    """Those of a shard that others have the ids of, and why."""
    keys = {unit.key for unit in shards().members(wildcards.shard)}
    return {key: reason for key, reason in _taken().items() if key in keys}


def simulated_folders(wildcards):
    """The folders of a shard's simulated captures, which have to be rendered first."""
    return [unit.path for unit in shards().members(wildcards.shard) if unit.origin == SIMULATED]


def archives_of_shard(wildcards):
    """The marks of the archives that a shard's captures are in."""
    paths = [Path(unit.path) for unit in shards().members(wildcards.shard)]
    return [
        mark
        for archive, mark in zip(ARCHIVES, UNPACKED)
        if any(path.is_relative_to(configuration.unpacked(archive)) for path in paths)
    ]


def manifests(stage):
    """The manifests of all shards of a stage, when the units are known."""

    def paths(wildcards):
        return [f"{ALL}/{stage}/{shard}.json" for shard in shards().names]

    return paths


def blur_manifests(wildcards):
    """Of all models and shards."""
    return [path for model in MODELS for path in manifests(f"blur/{model}")(wildcards)]


def restoration_manifests(wildcards):
    """Of all methods and shards."""
    return [f"{ALL}/restore/{method}/{shard}.json" for method in METHODS for shard in restorations().names]


def restoration_scores(wildcards):
    """Of all shards."""
    return [f"{ALL}/score_restorations/{shard}.json" for shard in scored_restorations().names] if METHODS else []


def all_manifests(wildcards):
    """Of every stage."""
    short = ["captures", "samples", *(f"blur/{model}" for model in MODELS), "score_blur"]
    paths = [path for stage in short for path in manifests(stage)(wildcards)]
    return [*paths, *restoration_manifests(wildcards), *restoration_scores(wildcards), COSTS]


def blur_estimates(wildcards):
    """What all models make of a shard; in the ablation, all variants."""
    names = VARIANTS if wildcards.scope == "ablation" else MODELS
    return [f"{manifest.FOLDER}/{wildcards.scope}/blur/{name}/{wildcards.shard}.json" for name in names]


def samples_to_ablate(wildcards):
    """Where the samples of a shard of the ablation are."""
    names = shards().holding(ablations().members(wildcards.shard))
    return [f"{ALL}/samples/{name}.json" for name in names]


def ablation_units(wildcards):
    """The keys of what a shard of the ablation works on."""
    return [unit.key for unit in ablations().members(wildcards.shard)]


def ablation_shards(stage):
    """The manifests of all shards of a stage of the ablation."""

    def paths(wildcards):
        return [f"{ABLATION}/{stage}/{shard}.json" for shard in ablations().names]

    return paths


def ablation_manifests(wildcards):
    """Of every stage of the ablation."""
    stages = ["samples", *(f"blur/{variant}" for variant in VARIANTS), "score_blur"]
    return [path for stage in stages for path in ablation_shards(stage)(wildcards)]


def cost_codes(wildcards):
    """The version of the code that measures each model, and of that model's."""
    measuring = ("workflow.lib.stages.costs", "workflow.lib.cost")
    return {name: code_version(*measuring, models.module_of(model)) for name, model in MODELS.items()}


def _holding(stage, groups, wildcards, chosen):
    """The manifests of a stage, worked on in ``groups``, that have what a shard of ``chosen`` is about."""
    names = [wildcards.shard] if wildcards.scope == "one" else groups.holding(chosen.members(wildcards.shard))
    return [f"{manifest.FOLDER}/{wildcards.scope}/{stage}/{name}.json" for name in names]


def samples_to_restore(wildcards):
    """Where the samples of a shard of restorations are: these shards are not those of samples."""
    return _holding("samples", shards(), wildcards, restorations())


def restoration_units(wildcards):
    """The names of what a shard of restorations restores."""
    return [unit.key for unit in restorations().members(wildcards.shard)]


def samples_to_score(wildcards):
    """Where the samples of a shard of restorations that are scored are."""
    return _holding("samples", shards(), wildcards, scored_restorations())


def restorations_to_score(wildcards):
    """What all methods made of a shard, and perhaps of others."""
    found = (_holding(f"restore/{method}", restorations(), wildcards, scored_restorations()) for method in METHODS)
    return [path for paths in found for path in paths]


def scored_units(wildcards):
    """The names of what a shard of scores is about."""
    return [unit.key for unit in scored_restorations().members(wildcards.shard)]


def method_model(wildcards):
    """The parameters of the blur model that a method goes through."""
    return MODELS[METHODS[wildcards.method]["blur"]]


def restore_code(wildcards):
    """The version of the code of one method and its blur model."""
    return code_version("workflow.lib.stages.restore", models.module_of(method_model(wildcards)))


def one_estimates(wildcards):
    """What all models and methods make of one capture."""
    restored = METHODS if wildcards.shard in restorations().labels else []
    kinds = [f"blur/{model}" for model in MODELS] + [f"restore/{method}" for method in restored]
    return [f"{SINGLE}/{kind}/{wildcards.shard}.json" for kind in kinds]


def one_names():
    """Units by the ids that people may ask for: a capture's or sample's, and those of samples cut from a recording.

    An id that both published datasets have means both; with the dataset and a slash before it, one of them.
    """
    if not all_unpacked():
        return {}
    names = {}
    for unit in units():
        for name in {unit.name, unit.key}:
            names.setdefault(name, []).append(unit)
    for unit, sample in run.known_samples(all_manifests(None)):
        if unit in names:
            names.setdefault(sample, names[unit])
    return names


def one_results(unit):
    """What there is to see of one capture."""
    tables = ["pictures", "blur"] + ["restoration"] * (label(unit) in restorations().labels)
    return [f"results/samples/{label(unit)}/{table}.parquet" for table in tables]


def blur_code(wildcards):
    """The version of the code of one model, so that a change in another leaves it alone."""
    return code_version("workflow.lib.stages.blur", models.module_of(OPERATORS[wildcards.model]))


# Rules whose shards are not those of captures.
SHARDS = {"restore_samples": restorations, "score_restorations": scored_restorations}


def _items(job):
    """How many captures a job works on. There are shards only once all archives are unpacked."""
    if not (shard := job.wildcards.get("shard")):
        return 1
    groups = ablations() if job.wildcards.get("scope") == "ablation" else SHARDS.get(job.rule.name, shards)()
    return len(groups.members(shard))


def begin_run():
    """Take the results for this run, and start to say how far it is."""
    cluster.refuse_arrays(getattr(workflow.executor_settings, "array_jobs", None))
    prune.require_alone(workflow.dag_settings.targets)
    plan = {
        progress.job_name(stage, job.output[0]): _items(job)
        for job in workflow.dag.needrun_jobs()
        if (stage := job.params.get("stage"))
    }
    run.begin(plan, name=getattr(workflow.scheduler._executor, "run_uuid", None))


def end_run(success):
    """Say what was done, and what was left out of all that this run was to make or found up to date."""
    outputs = [str(path) for job in workflow.dag.jobs for path in job.output]
    # By name, because a job that was killed on another machine could not say so here.
    failed = sorted(str(log) for job in getattr(workflow.scheduler, "failed", ()) for log in job.log)
    run.end(success, outputs, failed)
