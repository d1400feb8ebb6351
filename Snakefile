# From raw captures to tables: `snakemake` runs everything, `snakemake -n` says what it would do.
# Targets: datasets, blur, restore, tables, figures, report, ablation, or the id of one sample.
from pathlib import Path
from snakemake.utils import min_version

min_version("9.27")


configfile: Path(workflow.basedir) / "config" / "config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/resources.smk"
include: "workflow/rules/captures.smk"
include: "workflow/rules/datasets.smk"
include: "workflow/rules/blur.smk"
include: "workflow/rules/restore.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/ablation.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/single.smk"


rule all:
    default_target: True
    input:
        rules.datasets.input,
        rules.blur.input,
        rules.restore.input,
        rules.tables.input,
        rules.figures.input,
        rules.report.input,


onstart:
    begin_run()


onsuccess:
    end_run(success=True)


onerror:
    end_run(success=False)
