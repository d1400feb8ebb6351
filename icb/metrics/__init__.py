"""How close an estimate is to its reference: functions on numpy images (H, W, 3), float in [0, 1].

====================  =============================================================================================
``psnr``              data range 1, nothing clipped
``ssim``              scikit-image's, data range 1
``ssim_paper``        the same with data range 2, as in the paper's tables
``Lpips``             VGG on ``2 x - 1``; with ``paper=True`` on ``x / 127.5 - 1``, as in the paper's tables
``edge_band``         a mask for ``psnr``: the pixels near depth discontinuities, where blur models differ
``score``             all of them for the estimates of one sample
``obtain_backbone``   the weights that ``Lpips`` needs
====================  =============================================================================================
"""

from icb.metrics.backbones import WeightsUnavailableError, cache_folder, obtain_backbone
from icb.metrics.edges import edge_band
from icb.metrics.perceptual import Features, Lpips
from icb.metrics.quality import psnr, ssim, ssim_paper, structural_similarity
from icb.metrics.score import COLUMNS, score

__all__ = [
    "COLUMNS",
    "Features",
    "Lpips",
    "WeightsUnavailableError",
    "cache_folder",
    "edge_band",
    "obtain_backbone",
    "psnr",
    "score",
    "ssim",
    "ssim_paper",
    "structural_similarity",
]
