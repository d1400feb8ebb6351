"""Patches of blur operators against the literal models on padded pictures: values, gradients, adjoints."""

from itertools import product

import numpy as np
import pytest
import torch

import icb
from icb.patches import patch_of, place, whole_patch
from tests import reference
from tests.fits import Shift
from tests.scenes import scene

MODELS = {"icb": icb.ICB, "pwb": icb.PWB}
model_names = pytest.mark.parametrize("model", list(MODELS))
backends = pytest.mark.parametrize("backend", ["compiled", "torch"])
PATCHES = [((0, 13), (0, 20)), ((60, 71), (17, 43)), ((20, 67), (5, 6)), ((0, 71), (0, 43))]  # corners, middle, all


def padded_picture(blur: icb.BlurOperator, seed: int = 0) -> torch.Tensor:
    (height, width), (down, right) = blur.shape, blur.radius
    random = np.random.default_rng(seed)
    return torch.from_numpy(random.random((3, height + 2 * down, width + 2 * right)))


def cut_padded(
    x: torch.Tensor, blur: icb.BlurOperator, rows: tuple[int, int], columns: tuple[int, int]
) -> torch.Tensor:
    (down, right) = blur.radius
    return x[:, rows[0] : rows[1] + 2 * down, columns[0] : columns[1] + 2 * right]


@model_names
@backends
@pytest.mark.parametrize("kind", ["pan-tilt", "6-DoF", "still", "away from rest"])
def test_patches_equal_the_literal_model_on_a_padded_picture(model: str, backend: str, kind: str) -> None:
    s = scene(71, 43, kind, 6.0)
    blur = MODELS[model](s.depth.astype(np.float64), s.trajectory, s.camera, backend=backend)
    x = padded_picture(blur).requires_grad_()
    expected = reference.padded(model, x, blur.radius, *s.tensors())
    for rows, columns in PATCHES:
        patch = blur.patch(rows, columns)
        y = patch(cut_padded(x, blur, rows, columns))
        wanted = expected[:, slice(*rows), slice(*columns)]
        torch.testing.assert_close(y, wanted, atol=1e-9, rtol=0)
        target = torch.rand(y.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
        gradients = [torch.autograd.grad((z - target).square().sum(), x, retain_graph=True)[0] for z in (y, wanted)]
        torch.testing.assert_close(*gradients, atol=1e-9, rtol=0)


@model_names
@backends
def test_the_adjoint_of_a_patch_is_its_transpose(model: str, backend: str) -> None:
    s = scene(71, 43, "6-DoF", 7.0)
    blur = MODELS[model](s.depth, s.trajectory, s.camera, backend=backend)
    random = np.random.default_rng(0)
    for rows, columns in PATCHES:
        for patch in (blur.patch(rows, columns), whole_patch(blur, rows, columns)):
            x = random.random((*patch.padded_shape, 3)).astype(np.float32) - 0.5
            y = random.random((*patch.shape, 3)).astype(np.float32) - 0.5
            gap = np.vdot(patch(x).astype(np.float64), y) - np.vdot(x.astype(np.float64), patch.adjoint(y))
            assert abs(gap) <= 1e-5 * np.linalg.norm(patch(x)) * np.linalg.norm(y)
            assert np.linalg.norm(patch.adjoint(y)) > 0.1
            as_tensor = patch(torch.from_numpy(x).permute(2, 0, 1))
            np.testing.assert_allclose(as_tensor.permute(1, 2, 0).numpy(), patch(x), atol=1e-6)


@model_names
def test_on_a_replicated_border_patches_make_up_the_whole_operator(model: str) -> None:
    s = scene(71, 43, "6-DoF", 6.0)
    blur = MODELS[model](s.depth, s.trajectory, s.camera)
    image = s.image()
    (down, right), y = blur.radius, blur(image)
    padded = np.pad(image, ((down, down), (right, right), (0, 0)), mode="edge")
    whole = np.zeros_like(y)
    for rows, columns in product([(0, 30), (30, 71)], [(0, 9), (9, 43)]):
        patch = blur.patch(rows, columns)
        x = padded[rows[0] : rows[1] + 2 * down, columns[0] : columns[1] + 2 * right]
        whole[slice(*rows), slice(*columns)] = patch(x)
    np.testing.assert_allclose(whole, y, atol=2e-7)


def test_mattes_that_were_not_kept_are_made_for_the_patch(monkeypatch: pytest.MonkeyPatch) -> None:
    s = scene(150, 61, "away from rest", 7.0)
    s.depth[:70] = np.random.default_rng(0).uniform(0.5, 6, (70, 61))
    kept = icb.ICB(s.depth, s.trajectory, s.camera)
    monkeypatch.setattr("icb.compositing.STORED_VALUES", 3)
    fresh = icb.ICB(s.depth, s.trajectory, s.camera)
    assert not all(band.complete for band in fresh._bands)
    rows, columns = (50, 110), (7, 50)
    x = np.random.default_rng(1).random(kept.patch(rows, columns).padded_shape).astype(np.float32)
    before = fresh(s.image())
    np.testing.assert_allclose(fresh.patch(rows, columns)(x), kept.patch(rows, columns)(x), atol=1e-6)
    np.testing.assert_array_equal(fresh(s.image()), before)


@model_names
def test_results_do_not_depend_on_the_number_of_threads(model: str) -> None:
    s = scene(211, 33, "6-DoF", 6.0)
    blur = MODELS[model](s.depth, s.trajectory, s.camera)
    patch = blur.patch((11, 200), (3, 30))
    x = np.random.default_rng(0).random((*patch.padded_shape, 3)).astype(np.float32)
    y = np.random.default_rng(1).random((*patch.shape, 3)).astype(np.float32)
    results = []
    try:
        for threads in (1, 4):
            icb.set_num_threads(threads)
            results.append((patch(x), patch.adjoint(y)))
    finally:
        icb.set_num_threads(None)
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


def test_elsewhere_than_on_the_cpu_sums_are_asked_for_in_a_fixed_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pixels of PWB may see the same pixel, and a GPU adds up in any order unless it is told otherwise."""
    s = scene(31, 23, "6-DoF", 6.0)
    patch = icb.PWB(s.depth, s.trajectory, s.camera).patch((3, 20), (2, 19))
    modes: list[bool] = []
    index_add = torch.Tensor.index_add_

    def watched(*given: object, **options: object) -> torch.Tensor:
        modes.append(torch.are_deterministic_algorithms_enabled())
        return index_add(*given, **options)

    monkeypatch.setattr(torch.Tensor, "index_add_", watched)
    assert patch.adjoint(torch.zeros(3, *patch.shape, device="meta")).shape == (3, *patch.padded_shape)
    assert modes == [True] * len(s.trajectory.weights)
    assert not torch.are_deterministic_algorithms_enabled()


def test_an_operator_without_patches_is_used_through_the_whole_picture() -> None:
    blur = Shift()
    x = torch.rand(3, 17, 23, generator=torch.Generator().manual_seed(0))
    patch = patch_of(blur, (4, 11), (6, 20))
    torch.testing.assert_close(patch(x[:, 2:13, 6:20]), blur(x)[:, 4:11, 6:20])
    corner = patch_of(blur, (0, 5), (0, 5))  # the operator's own border: zero, whatever lies beyond the image
    outside = torch.full((3, 2, 5), 9.0)
    torch.testing.assert_close(corner(torch.cat([outside, x[:, :7, :5]], dim=1)), blur(x)[:, :5, :5])


def test_placing_cuts_off_and_fills_up() -> None:
    image = np.arange(12.0).reshape(3, 4)
    for top, left, shape in product((-5, -1, 0, 2), (-2, 0, 3), ((1, 2), (4, 6))):
        expected = np.zeros(shape)
        for row, column in product(range(3), range(4)):
            if 0 <= row + top < shape[0] and 0 <= column + left < shape[1]:
                expected[row + top, column + left] = image[row, column]
        np.testing.assert_array_equal(place(image, top, left, shape), expected)
        if -3 < top < shape[0] and -4 < left < shape[1]:  # torch refuses to cut off everything
            np.testing.assert_array_equal(place(torch.from_numpy(image), top, left, shape).numpy(), expected)


@model_names
@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        ((0, 12), (0, 13), "rows: got 0 to 12, expected some of 0 to 11"),
        ((3, 3), (0, 13), "rows: got 3 to 3"),
        ((0, 11), (-1, 5), "columns: got -1 to 5, expected some of 0 to 13"),
    ],
)
def test_bad_patches(model: str, rows: tuple[int, int], columns: tuple[int, int], message: str) -> None:
    s = scene(11, 13)
    with pytest.raises(icb.InputError, match=message):
        MODELS[model](s.depth, s.trajectory, s.camera).patch(rows, columns)


def test_pictures_of_another_size() -> None:
    s = scene(21, 23)
    patch = icb.ICB(s.depth, s.trajectory, s.camera).patch((3, 10), (4, 13))
    for function, size in ((patch, patch.padded_shape), (patch.adjoint, patch.shape)):
        with pytest.raises(icb.InputError, match=rf"patch: got shape .*, expected {size[0]} x {size[1]} pixels"):
            function(np.zeros((size[0] + 1, size[1], 3), np.float32))
        with pytest.raises(icb.InputError, match="patch: got shape"):
            function(torch.zeros(3, size[1], size[0] + 1))
