"""Raw camera captures in, datasets of blurred photos out: VirtualCMB and RealCMB.

Readers of raw captures are in :mod:`datasets.readers`, the layouts of the published sets in
:mod:`datasets.published`, and what turns the one into the other in :mod:`datasets.build`.
"""
