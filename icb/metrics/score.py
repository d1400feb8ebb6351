"""All metrics of a sample at once."""

import math
from collections.abc import Mapping

import numpy as np

from icb.errors import InputError
from icb.metrics.edges import edge_band
from icb.metrics.perceptual import Lpips
from icb.metrics.pictures import check_image
from icb.metrics.quality import psnr, structural_similarity

COLUMNS = ("psnr", "ssim", "ssim_paper", "lpips", "lpips_paper", "psnr_edge")


def score(
    estimates: Mapping[str, np.ndarray],
    reference: np.ndarray,
    *,
    depth: np.ndarray | None = None,
    lpips: Lpips | None = None,
) -> dict[str, dict[str, float | None]]:
    """Every column of :data:`COLUMNS` for each estimate of one reference; None where there is no value.

    ``lpips`` and ``lpips_paper`` are None without a network, ``psnr_edge``, the PSNR within
    :func:`~icb.metrics.edge_band`, without depth or where depth has no discontinuity. For blur, pass the sharp
    image as one more estimate: its PSNR is that of doing nothing.

    The network runs once per image and convention: the reference's features are shared by all estimates. The two
    conventions are taken one after the other, so that only one set of features is held at a time.
    """
    check_image("reference", reference)
    band = None if depth is None else edge_band(depth)
    if band is not None and band.shape != reference.shape[:2]:
        raise InputError(f"depth: got shape {band.shape}, expected {reference.shape[:2]} as the reference")
    rows: dict[str, dict[str, float | None]] = {}
    for name, estimate in estimates.items():
        row: dict[str, float | None] = dict.fromkeys(COLUMNS)
        row["psnr"] = psnr(estimate, reference)
        row["ssim"], row["ssim_paper"] = structural_similarity(estimate, reference)
        if band is not None:
            edge = psnr(estimate, reference, mask=band)
            row["psnr_edge"] = None if math.isnan(edge) else edge
        rows[name] = row
    if lpips is not None and rows:
        for column, paper in (("lpips", False), ("lpips_paper", True)):
            features = lpips.features(reference, paper=paper)
            for name, estimate in estimates.items():
                rows[name][column] = lpips.distance(features, estimate)
            del features  # before the next ones are made
    return rows
