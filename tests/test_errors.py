"""Bad input to the models gets an error that names the value and what was expected."""

import errno
from pathlib import Path

import numpy as np
import pytest
import torch

import icb
from icb import files
from tests.scenes import scene

MODELS = [icb.ImageCompositingBlur, icb.PixelWiseBlur]
models = pytest.mark.parametrize("model", MODELS)


@models
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.__setitem__((3, 4), 0), "depth: got 0.0 at row 3, column 4, expected metres above 0"),
        (lambda d: d.__setitem__((0, 1), np.nan), "depth: got nan at row 0, column 1"),
        (lambda d: d.__setitem__((5, 2), -2), "depth: got -2.0 at row 5, column 2"),
    ],
)
def test_bad_depth_values(model: type[icb.BlurOperator], change: object, message: str) -> None:
    s = scene(11, 13)
    change(s.depth)
    with pytest.raises(icb.InputError, match=message):
        model(s.depth, s.trajectory, s.camera)


@models
@pytest.mark.parametrize(
    ("depth", "message"),
    [
        (np.ones((3, 4, 1)), r"depth: got shape \(3, 4, 1\), expected \(H, W\)"),
        (np.ones((0, 4)), r"depth: got shape \(0, 4\)"),
        ([[1.0]], "depth: got list, expected a numpy array or a torch tensor"),
        (np.array([["a"]]), "depth: got <U1, expected metres"),
        (np.ones((2, 2), complex), "depth: got complex128"),
    ],
)
def test_bad_depth_arrays(model: type[icb.BlurOperator], depth: object, message: str) -> None:
    s = scene(11, 13)
    with pytest.raises(icb.InputError, match=message):
        model(depth, s.trajectory, s.camera)


@models
@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.ones((11, 14, 3), np.float32), r"image: got shape \(11, 14, 3\), expected \(11, 13, 3\) as the depth map"),
        (np.ones(11, np.float32), r"image: got shape \(11,\)"),
        (np.ones((11, 13, 3), np.uint8), "image: got uint8, expected float32 or float64 between 0 and 1"),
        (torch.ones(3, 13, 11), r"image: got shape \(3, 13, 11\), expected \(..., 3, 11, 13\)"),
        (torch.ones(3, 11, 13, dtype=torch.int32), r"image: got torch.int32, expected torch.float32"),
        ("photo.png", "image: got str, expected a numpy array or a torch tensor"),
    ],
)
def test_bad_images(model: type[icb.BlurOperator], image: object, message: str) -> None:
    s = scene(11, 13)
    blur = model(s.depth, s.trajectory, s.camera)
    for function in (blur, blur.adjoint):
        with pytest.raises(icb.InputError, match=message):
            function(image)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0.0}, "n: got 0.0, expected a positive number of pixels"),
        ({"n": 1e-7}, "use a larger n"),
        ({"sigma": 0.0}, "sigma: got 0.0"),
        ({"sigma": np.nan}, "sigma: got nan"),
        ({"sigma": "soft"}, "sigma: got 'soft'"),
        ({"n": None}, "n: got None"),
        ({"backend": "cuda"}, "backend: got 'cuda', expected 'auto', 'compiled' or 'torch'"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    s = scene(11, 13)
    with pytest.raises(icb.InputError, match=message):
        icb.ICB(s.depth, s.trajectory, s.camera, **options)


def test_what_is_no_trajectory_or_camera() -> None:
    s = scene(11, 13)
    for model in MODELS:
        with pytest.raises(icb.InputError, match=r"trajectory: got ndarray, expected icb\.Trajectory"):
            model(s.depth, s.trajectory.poses, s.camera)
        with pytest.raises(icb.InputError, match=r"camera: got tuple, expected icb\.Camera"):
            model(s.depth, s.trajectory, (1, 1, 0, 0))


def test_the_pose_named_is_the_pose_meant() -> None:
    s = scene(11, 13)
    poses = icb.Trajectory.from_motion([[0.0, 0, 0], [0, 0, 0], [0, 0, -50.0]], weights=[0, 1, 1])
    with pytest.raises(icb.InputError, match="pose 2: moves"):
        icb.PWB(s.depth, poses, s.camera)


def test_a_camera_that_turns_away() -> None:
    s = scene(11, 13)
    away = icb.Trajectory.from_motion(np.zeros((2, 3)), [[0, 0, 0], [0, 2.0, 0]])
    with pytest.raises(icb.InputError, match="pose 1: turns the camera by a right angle or more"):
        icb.ICB(s.depth, away, s.camera)
    with pytest.raises(icb.InputError, match="pose 1: moves or turns the camera past part of the scene"):
        icb.PWB(s.depth, away, s.camera)


def test_a_camera_that_drives_through_the_scene() -> None:
    s = scene(11, 13)
    s.depth[:] = 5
    s.depth[4, 6] = 0.5
    through = icb.Trajectory.from_motion([[0.0, 0, 0], [0, 0, -1.0]])
    with pytest.raises(icb.InputError, match="pose 1: moves or turns the camera past part of the scene"):
        icb.PWB(s.depth, through, s.camera)
    s.depth[4, 6] = 5  # now nothing is in the way
    icb.PWB(s.depth, through, s.camera)


def test_bad_numbers_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(icb.InputError, match="number of threads: got 0"):
        icb.set_num_threads(0)
    monkeypatch.setenv("ICB_NUM_THREADS", "²")
    with pytest.raises(icb.InputError, match="ICB_NUM_THREADS: got '²'"):
        icb.num_threads()
    monkeypatch.setenv("ICB_NUM_THREADS", "many")
    with pytest.raises(icb.InputError, match="ICB_NUM_THREADS: got 'many'"):
        icb.num_threads()
    monkeypatch.setenv("ICB_NUM_THREADS", "3")
    assert icb.num_threads() == 3


@pytest.mark.parametrize(
    "error",
    [MemoryError("Unable to allocate 2 GiB"), OSError(errno.EIO, "Input/output error"), OSError(errno.EMFILE, "")],
)
def test_the_machine_s_faults_are_not_the_file_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    np.save(tmp_path / "a.npy", np.zeros(3))
    np.savez(tmp_path / "a.npz", a=np.zeros(3))

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(np, "load", fail)
    monkeypatch.setattr(Path, "read_bytes", fail)
    for read, name in ((files.load_npy, "a.npy"), (files.load_npz, "a.npz"), (files.read_bytes, "a.npy")):
        with pytest.raises(type(error)) as raised:
            read(tmp_path / name)  # type: ignore[operator]
        assert raised.value is error
    with pytest.raises(icb.InputError, match="nowhere: cannot be read: No such file"):
        files.read_bytes(tmp_path / "nowhere")
