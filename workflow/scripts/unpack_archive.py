"""Fetch and unpack one archive."""

from workflow.lib.job import job

with job(snakemake.log[0], threads=snakemake.threads):
    import json
    from pathlib import Path

    from icb import files
    from workflow.lib import archives, configuration

    archive, checksum = snakemake.wildcards.archive, snakemake.params.checksum
    # No parameter: another place to fetch it from changes nothing in what it holds.
    source = configuration.archives(snakemake.config)[archive]["source"]
    archives.obtain(source, checksum, configuration.unpacked(archive))
    text = json.dumps({"checksum": checksum}) + "\n"
    files.write(Path(snakemake.output[0]), lambda path: path.write_text(text))
