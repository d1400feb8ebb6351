# Figures, all in one job: matplotlib takes longer to start than to draw.


rule figures:
    input:
        UNPACKED,
        expand("results/figures/{figure}.{format}", figure=FIGURES, format=["png", "pdf"]),


rule draw_figures:
    input:
        samples=manifests("samples"),
        blur="results/metrics/blur.parquet",
        restoration="results/metrics/restoration.parquet",
        history="results/metrics/history.parquet",
        blurred=blur_manifests,
        restored=restoration_manifests,
    output:
        [in_report(f"results/figures/{figure}.png", "Figures") for figure in FIGURES],
        expand("results/figures/{figure}.pdf", figure=FIGURES),
    log:
        "results/logs/draw_figures.log",
    conda:
        "../../environment.yml"
    params:
        figures=FIGURES,
        models=MODELS,
        methods=list(METHODS),
        patterns=config["figures"]["samples"],
        pick=config["figures"]["pick"],
        code=code_version("workflow.lib.drawing"),
    script:
        "../scripts/draw_figures.py"
