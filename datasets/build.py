"""From raw captures to samples in the published layouts."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import cv2
import numpy as np

from datasets import provenance, published
from datasets.average import Average, check_mode, stream
from datasets.capture import Capture, reference_index, source_hash
from datasets.fill import fill_depth
from datasets.formats import ios, png
from datasets.index import NAME, Row, merge_rows, read_index, row_of
from datasets.provenance import Provenance
from datasets.published import real, virtual
from datasets.readers import format_of, open_capture
from datasets.readers.unity import UnityCapture
from datasets.recording import Recording
from datasets.sample import check_id
from datasets.transaction import Transaction
from icb import InputError, files
from icb.errors import OutputError

Result = TypeVar("Result")


@dataclass(frozen=True)
class Options:
    """``window`` frames a sample, every ``stride`` frames, and ``size`` (H, W) are for iOS recordings.

    By default a recording is one sample in the size of its depth. Unity captures are one sample as they are.
    """

    averaging: str = "plain"
    window: int | None = None
    stride: int | None = None
    size: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        check_mode(self.averaging)
        for name, value, least in (("window", self.window, 3), ("stride", self.stride, 1)):
            if value is not None and value < least:
                raise InputError(f"{name}: got {value} frames, expected at least {least}")
        if self.stride is not None and self.window is None:
            raise InputError(f"stride: got {self.stride} without a window, expected both")


@dataclass(frozen=True)
class Window:
    """The frames of one sample."""

    id: str
    first: int
    count: int

    @property
    def reference(self) -> int:
        """Index of the reference frame in the capture."""
        return self.first + reference_index(self.count, self.id)


def windows(capture: Capture, options: Options) -> list[Window]:
    """The samples that a capture yields."""
    count = len(capture)
    reference_index(count, capture.path)
    name = check_id(capture.info.id)
    if options.window is None or capture.info.dataset == virtual.DATASET:
        return [Window(name, 0, count)]
    if count < options.window:
        raise InputError(f"{capture.path}: got {count} frames, expected at least the window of {options.window}")
    step = options.stride or options.window
    starts = range(0, count - options.window + 1, step)
    return [Window(f"{name}_{first}", first, options.window) for first in starts]


def build(
    captures: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    options: Options,
    *,
    report: Callable[[Row], object] | None = None,
    progress: Callable[[], object] | None = None,
    failed: Callable[[InputError], object] | None = None,
) -> list[Row]:
    """Build all samples of some captures into ``out``, index included. Returns their rows.

    ``report`` is told each row when its sample is in place, ``progress`` of every frame, ``failed`` of every
    capture that is left out because it is broken; without it the first of them ends the build.
    """
    plans = [_attempt(failed, _plan, path, options) for path in captures]
    jobs = [plan for plan in plans if plan is not None]
    names = [(capture.info.dataset, window.id) for capture, parts in jobs for window in parts]
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError(f"captures: got {name[1]!r} twice, expected every sample once")
    if (Path(out) / NAME).exists():
        read_index(out)  # before any work, if it cannot be added to
    rows: list[Row] = []

    def build_one(capture: Capture, parts: list[Window]) -> None:
        source = source_hash(capture)
        for window in parts:
            rows.append(build_sample(capture, window, out, options, source_sha256=source, progress=progress))
            if report is not None:
                report(rows[-1])

    for capture, parts in jobs:
        _attempt(failed, build_one, capture, parts)
    return rows


def _plan(path: str | os.PathLike[str], options: Options) -> tuple[Capture, list[Window]]:
    capture = open_capture(path)
    return capture, windows(capture, options)


def _attempt(
    failed: Callable[[InputError], object] | None, work: Callable[..., Result], *arguments: object
) -> Result | None:
    """The work's result; None where it failed and somebody wants to know rather than to stop."""
    try:
        return work(*arguments)
    except InputError as error:
        if failed is None or isinstance(error, OutputError):
            raise
        failed(error)
        return None


def build_sample(
    capture: Capture,
    window: Window,
    out: str | os.PathLike[str],
    options: Options,
    *,
    source_sha256: str | None = None,
    record: bool = True,
    progress: Callable[[], object] | None = None,
) -> Row:
    """Build one sample into ``out``, whole or not at all, and return its row for the index.

    ``record`` False leaves the index alone, for those who merge rows later with
    :func:`datasets.index.write_index`.
    """
    dataset, layout = capture.info.dataset, published.LAYOUTS[capture.info.dataset]
    with Transaction(Path(out)) as transaction:
        contents, share_filled = make_sample(capture, window, options, progress)
        origin = Provenance(
            simulated=capture.info.simulated,
            averaging=options.averaging,
            source=capture.info.id,
            source_format=format_of(capture.path),
            source_sha256=source_sha256 or source_hash(capture),
            first_frame=window.first,
            share_filled=share_filled,
            scene=capture.info.scene,
            case=capture.info.case,
            motion=capture.info.motion,
        )
        transaction.write({**contents, provenance.entry(window.id): provenance.encode(origin)}, under=dataset)
        # Reading it back is the last check, and lets one code path say what is in a sample.
        folder = transaction.path(dataset)
        row = row_of(published.read_from(folder, dataset, window.id), folder)
        names = [f"{dataset}/{entry}" for entry in (*layout.entries(window.id), provenance.entry(window.id))]
        transaction.commit(names, then=lambda: merge_rows(Path(out) / NAME, [row]) if record else None)
    return row


def make_sample(
    capture: Capture, window: Window, options: Options, progress: Callable[[], object] | None = None
) -> tuple[dict[str, bytes], float]:
    """The files of a sample by name, as bytes, and the share of its depth that was filled."""
    if isinstance(capture, UnityCapture):
        depth_file = capture.depth_file(window.reference)
        if depth_file is None:
            raise InputError(f"{capture.depth_name(window.reference)}: missing, expected the depth of the reference")
        depth_png = files.read_bytes(depth_file)
        png.decode(depth_png, depth_file, capture.size)  # kept as it is, if it is what it should be
        sharp, blurry = average(capture, window, options.averaging, capture.size, progress)
        contents = virtual.contents(
            window.id,
            sharp,
            blurry,
            depth_png=depth_png,
            params=files.read_bytes(capture.params),
            logs={number: files.read_bytes(capture.logs[number]) for number in capture.numbers},
        )
        return contents, 0.0
    if not isinstance(capture, Recording):
        raise InputError(f"{capture.path}: expected a Unity capture or an iOS recording")
    depth, share_filled = reference_depth(capture, window.reference)
    size = options.size or (depth.shape[0], depth.shape[1])
    if not (1 <= size[0] <= capture.size[0] and 1 <= size[1] <= capture.size[1]):
        raise InputError(f"{capture.path}: got a size of {size} for the sample, expected at most {capture.size}")
    if depth.shape != size:
        depth = cv2.resize(depth, (size[1], size[0]), interpolation=cv2.INTER_NEAREST_EXACT)
    sharp, blurry = average(capture, window, options.averaging, size, progress)
    down, right = size[0] / capture.size[0], size[1] / capture.size[1]
    infos = [
        ios.to_dict(
            capture.headers[index],
            start=capture.headers[window.first].time,
            camera=capture.camera_of(index).scaled(right, down),
        )
        for index in range(window.first, window.first + window.count)
    ]
    return real.contents(window.id, sharp, blurry, depth=depth, infos=infos), share_filled


def average(
    capture: Capture,
    window: Window,
    mode: str,
    size: tuple[int, int],
    progress: Callable[[], object] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The reference frame and the average over the window, both shrunk to ``size`` and rounded once."""
    blurry = Average((*capture.size, 3), mode)
    for index, frame in stream(capture.frame, range(window.first, window.first + window.count)):
        blurry.add(frame)
        if index == window.reference:
            reference = frame
        if progress is not None:
            progress()
    if capture.size == size:
        return reference, blurry.result(size)
    sharp = Average((*capture.size, 3), mode)
    sharp.add(reference)
    return sharp.result(size), blurry.result(size)


def reference_depth(capture: Capture, index: int) -> tuple[np.ndarray, float]:
    """Depth of a frame without holes, and the share that was filled."""
    depth = capture.depth(index)
    if depth is None:
        raise InputError(f"{capture.depth_name(index)}: missing, expected the depth of the reference")
    try:
        return fill_depth(depth, capture.confidence(index))
    except InputError as error:
        raise InputError(f"{capture.depth_name(index)}: {error}") from None
