"""The set of captures that stands in for the published data, so that everything runs with no download."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import icb
from datasets.simulate import ios, unity
from datasets.simulate.folders import require_new
from datasets.simulate.motions import MOTIONS
from datasets.simulate.render import Size
from datasets.simulate.scenes import CASES, scene_module
from icb.errors import InputError

IOS = "iOS"


@dataclass(frozen=True)
class Capture:
    """One capture to simulate: a case of Unity's, or ``iOS`` (motion always 6-DoF)."""

    scene: str
    case: str
    motion: str
    seed: int


def default_set(
    *,
    scenes: Sequence[str] | None = None,
    cases: Sequence[str] | None = None,
    motions: Sequence[str] | None = None,
    seeds: Sequence[int] = (0,),
    ios_count: int = 3,
) -> list[Capture]:
    """Captures of all cases and motion classes, one scene each unless ``scenes`` names them.

    Macro and Trucking come in the three motion classes, Standard in 6-DoF alone, as in the paper. The
    scenes take turns: another seed sees other scenes. ``ios_count`` recordings of near things are added.
    """
    for name in scenes or ():
        scene_module(name)
    chosen = []
    for seed in seeds:
        for case in CASES if cases is None else cases:
            offered = _scenes_of(case, scenes, strict=cases is not None)
            classes = motions if motions is not None else (("6-DoF",) if case == "Standard" else tuple(MOTIONS))
            for turn, motion in enumerate(classes):
                some = offered if scenes is not None else [offered[(seed + turn) % len(offered)]]
                chosen += [Capture(scene, case, motion, seed) for scene in some]
    near = _scenes_of("Macro", scenes, strict=False)
    for turn in range(ios_count if near else 0):
        chosen.append(Capture(near[turn % len(near)], IOS, "6-DoF", seeds[0] + turn // len(near)))
    # Captures of one scene and seed follow each other: the scene is built once.
    return sorted(chosen, key=lambda capture: (capture.seed, capture.scene, capture.case, capture.motion))


def capture_name(capture: Capture) -> str:
    """Of the folder that a capture is simulated into."""
    if capture.case == IOS:
        return ios.bundle_name(capture.scene, capture.seed)
    return unity.capture_id(capture.scene, capture.case, capture.motion, capture.seed)


def _scenes_of(case: str, wanted: Sequence[str] | None, *, strict: bool) -> list[str]:
    if case not in CASES:
        raise InputError(f"case: got {case!r}, expected one of {', '.join(CASES)}")
    offered = [scene for scene in CASES[case] if wanted is None or scene in wanted]
    if strict and not offered:
        raise InputError(f"scene: got {', '.join(wanted or ())}, expected for {case} one of {', '.join(CASES[case])}")
    return offered


def simulate_set(
    folder: str | os.PathLike[str],
    captures: Sequence[Capture] | None = None,
    *,
    size: Size = (180, 320),
    poses: int = 33,
    ios_size: Size = (384, 512),
    ios_depth_size: Size = (192, 256),
    ios_frames: int = 31,
    samples: int = 4,
    jobs: int = 1,
    progress: Callable[[], object] | None = None,
) -> list[Path]:
    """Simulate captures (by default :func:`default_set`) into ``folder``; their folders, in order.

    Sizes are (H, W), of iOS in landscape. ``jobs`` processes share the captures. ``progress`` is called
    for each frame, with several jobs when its capture is done. Nothing is rendered if a capture is there
    already or cannot be simulated.
    """
    captures = default_set() if captures is None else captures
    if jobs < 1:
        raise InputError(f"jobs: got {jobs}, expected at least 1")
    for_unity = {"size": size, "poses": poses, "samples": samples}
    for_ios = {"image_size": ios_size, "depth_size": ios_depth_size, "frames": ios_frames, "samples": samples}
    tasks = [_Task(Path(folder), capture, for_ios if capture.case == IOS else for_unity) for capture in captures]
    for task in tasks:
        task.check()
    if jobs == 1 or len(tasks) < 2:
        return [task(progress) for task in tasks]
    share = max(1, icb.num_threads() // jobs)
    with ProcessPoolExecutor(jobs, get_context("spawn"), icb.set_num_threads, (share,)) as pool:
        running = {pool.submit(task): task for task in tasks}
        try:
            for future in as_completed(running):
                future.result()
                for _ in range(ios_frames if running[future].capture.case == IOS else poses):
                    if progress:
                        progress()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [task.target for task in tasks]


@dataclass(frozen=True)
class _Task:
    folder: Path
    capture: Capture
    settings: dict[str, Any]

    @property
    def target(self) -> Path:
        return self.folder / capture_name(self.capture)

    def check(self) -> None:
        capture = self.capture
        if capture.case == IOS:
            ios.check(capture.scene, capture.seed, **self.settings)
        else:
            unity.check(**asdict(capture), **self.settings)
        require_new(self.target)

    def __call__(self, progress: Callable[[], object] | None = None) -> Path:
        capture = self.capture
        if capture.case == IOS:
            return ios.simulate_ios(
                self.folder, scene=capture.scene, seed=capture.seed, **self.settings, progress=progress
            )
        return unity.simulate_unity(self.folder, **asdict(capture), **self.settings, progress=progress)
