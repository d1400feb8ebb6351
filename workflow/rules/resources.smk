# What jobs need, and which are too short to be worth a job of a cluster.
from workflow.lib import devices

# On a machine of one's own. The nodes of a cluster are asked for theirs by its profile.
GPUS = [] if workflow.nodes else devices.present()
if GPUS and "gpu" not in workflow.global_resources:
    workflow.register_resource("gpu", len(GPUS))


localrules:
    # They take seconds, or need the network.
    unpack_archive,
    obtain_lpips_weights,
    list_captures,
    choose_samples,
    show_datasets,
    show_blur,
    show_restorations,
    show_one,
    tabulate_blur,
    tabulate_restorations,
    tabulate_history,
    tabulate_left_out,
    tabulate_costs,
    tabulate_ablation,
    tabulate_one_blur,
    tabulate_one_restoration,
    write_tables,
    write_ablation,
    write_report,
    draw_figures,
    prune,


# What a job needs at the paper's sizes, 1280 x 720, twice over at the least. It grows on every retry.


def memory(megabytes):
    """Memory in MB, more on every attempt."""

    def mem_mb(wildcards, attempt):
        return megabytes * attempt

    return mem_mb


def minutes(each, jobs="samples_per_job"):
    """Run time for as many samples as share a job, of which each takes so many minutes; more on every attempt."""

    def runtime(wildcards, attempt):
        return (10 + round(each * config[jobs])) * attempt

    return runtime


def fit_minutes(wildcards, attempt):
    """Run time of a job of restorations: 200 minutes for 400 epochs of a whole picture on one core, twice over."""
    return minutes(METHODS[wildcards.method]["epochs"], "restorations_per_job")(wildcards, attempt)


def fit_gpus(wildcards):
    """A fit takes a GPU where there is one, and is taken to on a cluster; a profile may say that there is none."""
    return 1 if GPUS or workflow.nodes else 0


def page_minutes(wildcards, attempt):
    """Run time of the job that makes the pages of all samples: seconds each."""
    return (10 + round(0.1 * len(units()))) * attempt


def cost_threads(wildcards):
    """All cores, so that nothing else of this run is at work meanwhile; on a cluster other jobs may share the node."""
    return config["costs"]["threads"] if workflow.nodes else workflow.cores or 1
