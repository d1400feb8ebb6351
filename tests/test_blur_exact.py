"""The fast models against the literal ones: values, gradients, adjoints, invariants."""

import copy
import multiprocessing

import numpy as np
import pytest
import torch

import icb
from tests import reference
from tests.scenes import KINDS, Scene, scene

MODELS = {"icb": icb.ImageCompositingBlur, "pwb": icb.PixelWiseBlur}
LITERAL = {"icb": reference.icb, "pwb": reference.pwb}
SIZES = [(23, 37), (41, 19), (70, 51)]  # odd, unequal, one taller than a band of rows

model_names = pytest.mark.parametrize("model", list(MODELS))
backends = pytest.mark.parametrize("backend", ["compiled", "torch"])


def literal(model: str, s: Scene, x: np.ndarray, **options: float) -> np.ndarray:
    image = torch.from_numpy(x.astype(np.float64)).permute(2, 0, 1)
    return LITERAL[model](image, *s.tensors(), **options).permute(1, 2, 0).numpy()


def assert_close(model: str, s: Scene, backend: str = "compiled", **options: float) -> None:
    blur = MODELS[model](s.depth, s.trajectory, s.camera, backend=backend, **options)
    x = s.image()
    np.testing.assert_allclose(blur(x), literal(model, s, x, **options), atol=1e-5, rtol=0)


@model_names
@backends
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_equals_the_literal_model(model: str, backend: str, kind: str, size: tuple[int, int]) -> None:
    assert_close(model, scene(*size, kind, seed=sum(size)), backend)


@model_names
@pytest.mark.parametrize("pixels", [0.3, 1.0, 2.0, 17.0])
def test_equals_the_literal_model_at_small_and_large_blur(model: str, pixels: float) -> None:
    assert_close(model, scene(37, 45, "6-DoF", pixels))


@model_names
def test_kernels_larger_than_the_image(model: str) -> None:
    assert_close(model, scene(9, 14, "parallax", pixels=40.0))


@model_names
@pytest.mark.parametrize("size", [(1, 1), (1, 17), (13, 1), (64, 16), (65, 33)])
def test_degenerate_sizes(model: str, size: tuple[int, int]) -> None:
    assert_close(model, scene(*size, "parallax", pixels=3.0))


@model_names
def test_infinite_depth(model: str) -> None:
    s = scene(31, 43)
    s.depth[:12, 5:] = np.inf
    assert_close(model, s)


@model_names
def test_only_infinite_depth(model: str) -> None:
    s = scene(15, 22, "6-DoF")
    s.depth[:] = np.inf
    assert_close(model, s)


@model_names
def test_layers_without_pixels(model: str) -> None:
    s = scene(33, 41, pixels=9.0)
    s.depth[:] = np.where(s.depth < 3, np.float32(0.5), np.float32(40.0))
    assert_close(model, s)
    empty = [layer for layer in icb.ICB(s.depth, s.trajectory, s.camera).layers if layer.share == 0]
    assert len(empty) > 3


@model_names
def test_depth_that_changes_at_every_pixel(model: str) -> None:
    s = scene(35, 47, pixels=6.0)
    s.depth[:] = np.random.default_rng(3).uniform(0.5, 6, s.depth.shape)
    assert_close(model, s)


@pytest.mark.parametrize(("n", "sigma"), [(0.5, 4.0), (2.0, 1.0), (3.0, 0.5), (1.0, 9.0)])
def test_layer_spacing_and_softness(n: float, sigma: float) -> None:
    assert_close("icb", scene(35, 43, "pan-tilt", 8.0), n=n, sigma=sigma)


def test_mattes_equal_the_literal_ones_and_sum_to_one() -> None:
    s = scene(39, 46, "pan-tilt", 6.0)
    mattes = icb.ICB(s.depth, s.trajectory, s.camera).mattes()
    expected, _ = reference.icb_parts(*s.tensors())
    np.testing.assert_allclose(mattes, expected.numpy(), atol=1e-5, rtol=0)
    np.testing.assert_allclose(mattes.sum(axis=0), 1, atol=1e-6)


def test_layers_describe_the_literal_regions_and_kernels() -> None:
    s = scene(39, 46, "pan-tilt", 6.0)
    blur = icb.ICB(s.depth, s.trajectory, s.camera)
    _, kernels = reference.icb_parts(*s.tensors())
    assert len(blur.layers) == len(kernels)
    labels = blur.layer_map()
    for layer, dense in zip(blur.layers, kernels.numpy(), strict=True):
        inside = s.depth[labels == layer.index]
        assert layer.share == pytest.approx(inside.size / s.depth.size)
        if inside.size:
            assert layer.near <= inside.min() and inside.max() < layer.far
            assert layer.depth == pytest.approx(inside.mean(dtype=np.float64))
        else:
            assert layer.taps.size == 0
            continue
        pad = (len(dense) - len(layer.kernel())) // 2
        np.testing.assert_allclose(np.pad(layer.kernel(), pad), dense, atol=1e-12)


@model_names
@backends
@pytest.mark.parametrize("kind", ["pan-tilt", "6-DoF", "away from rest"])
def test_adjoint(model: str, backend: str, kind: str) -> None:
    s = scene(67, 43, kind, 7.0)
    blur = MODELS[model](s.depth, s.trajectory, s.camera, backend=backend)
    x, y = s.image(1), s.image(2)
    forward = np.vdot(blur(x).astype(np.float64), y)
    assert np.vdot(x.astype(np.float64), blur.adjoint(y)) == pytest.approx(forward, rel=1e-5)
    # Signed input, scaled by norms: an error cannot hide behind a large mean.
    x, y = x - 0.5, y - 0.5
    gap = np.vdot(blur(x).astype(np.float64), y) - np.vdot(x.astype(np.float64), blur.adjoint(y))
    assert abs(gap) <= 1e-5 * np.linalg.norm(blur(x)) * np.linalg.norm(y)


@model_names
@backends
def test_gradient_equals_the_literal_one(model: str, backend: str) -> None:
    s = scene(29, 41, "pan-tilt", 6.0)
    blur = MODELS[model](s.depth, s.trajectory, s.camera, backend=backend)
    start = torch.from_numpy(s.image(dtype=np.float64)).permute(2, 0, 1)
    target = torch.rand(start.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    gradients = []
    for function in (blur, lambda x: LITERAL[model](x, *s.tensors())):
        x = start.clone().requires_grad_()
        ((function(x) - target) ** 2).sum().backward()
        gradients.append(x.grad)
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-5, rtol=0)


@model_names
@backends
def test_gradcheck(model: str, backend: str) -> None:
    s = scene(7, 9, "pan-tilt", 3.0)
    blur = MODELS[model](s.depth.astype(np.float64), s.trajectory, s.camera, backend=backend)
    x = torch.rand(2, 1, 7, 9, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(blur, (x,), check_forward_ad=True)
    assert torch.autograd.gradcheck(blur.adjoint, (x,))
    assert torch.autograd.gradgradcheck(blur, (x,))


@model_names
def test_float64_is_exact_to_float64(model: str) -> None:
    s = scene(31, 44, "pan-tilt", 6.0)
    s = Scene(s.depth.astype(np.float64), s.trajectory, s.camera)
    x = s.image(dtype=np.float64)
    y = MODELS[model](s.depth, s.trajectory, s.camera)(x)
    assert y.dtype == np.float64
    np.testing.assert_allclose(y, literal(model, s, x), atol=1e-12, rtol=0)


@model_names
@backends
def test_torch_batches_equal_numpy_images(model: str, backend: str) -> None:
    s = scene(21, 34, "6-DoF")
    blur = MODELS[model](s.depth, s.trajectory, s.camera, backend=backend)
    images = [s.image(seed) for seed in range(4)]
    batch = torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2).reshape(2, 2, 3, 21, 34)
    blurred = blur(batch)
    assert blurred.shape == batch.shape and blurred.dtype == torch.float32
    expected = np.stack([blur(image) for image in images])
    np.testing.assert_allclose(blurred.reshape(4, 3, 21, 34).permute(0, 2, 3, 1).numpy(), expected, atol=1e-6)


@model_names
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_any_number_of_channels(model: str, channels: int) -> None:
    s = scene(21, 34)
    blur = MODELS[model](s.depth, s.trajectory, s.camera)
    x = s.image(channels=channels)
    each = np.stack([blur(np.ascontiguousarray(x[..., c])) for c in range(channels)], axis=-1)
    np.testing.assert_allclose(blur(x), each, atol=1e-6)
    np.testing.assert_allclose(blur(x[:, ::-1].copy()[:, ::-1]), blur(x), atol=0)  # a view with negative strides


@model_names
def test_no_motion_is_the_identity(model: str) -> None:
    s = scene(25, 31, "still")
    x = s.image()
    blur = MODELS[model](s.depth, s.trajectory, s.camera)
    np.testing.assert_allclose(blur(x), x, atol=1e-6)
    np.testing.assert_allclose(blur.adjoint(x), x, atol=1e-6)


@model_names
def test_a_constant_image_is_preserved(model: str) -> None:
    s = scene(45, 38, "6-DoF", 9.0)
    y = MODELS[model](s.depth, s.trajectory, s.camera)(np.full((45, 38, 3), 0.37, np.float32))
    np.testing.assert_allclose(y, 0.37, atol=1e-6)


def test_one_fronto_parallel_plane_blurs_alike_in_both_models() -> None:
    s = scene(40, 53, "parallax", 6.0)
    s.depth[:] = 1.7
    x = s.image()
    # Displacements depend on the depth alone, so borders agree as well.
    np.testing.assert_allclose(
        icb.ICB(s.depth, s.trajectory, s.camera)(x), icb.PWB(s.depth, s.trajectory, s.camera)(x), atol=1e-5
    )


def test_a_point_moves_the_way_the_camera_says() -> None:
    """The camera moves right, so the scene moves left: t_x < 0 and the point's trail lies to its left."""
    depth = np.full((9, 31), 2.0, np.float32)
    camera = icb.Camera.centred(100, 31, 9)
    trajectory = icb.Trajectory.from_motion([[0, 0, 0], [-0.2, 0, 0]])  # 10 pixels
    x = np.zeros((9, 31, 3), np.float32)
    x[4, 20] = 1
    for model in MODELS.values():
        y = model(depth, trajectory, camera)(x)
        assert y[4, 20, 0] == pytest.approx(0.5) and y[4, 10, 0] == pytest.approx(0.5)


@model_names
def test_results_do_not_depend_on_the_number_of_threads(model: str) -> None:
    s = scene(333, 71, "6-DoF", 9.0)
    x = s.image()
    results = []
    try:
        for threads in (1, 2, 5):
            icb.set_num_threads(threads)
            blur = MODELS[model](s.depth, s.trajectory, s.camera)
            results.append((blur(x), blur.adjoint(x)))
    finally:
        icb.set_num_threads(None)
    for y, v in results[1:]:
        np.testing.assert_array_equal(y, results[0][0])
        np.testing.assert_array_equal(v, results[0][1])


@backends
def test_mattes_too_many_to_keep_are_made_anew(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    s = scene(150, 61, "away from rest", 7.0)
    s.depth[:70] = np.random.default_rng(0).uniform(0.5, 6, (70, 61))
    x = s.image()
    kept = icb.ICB(s.depth, s.trajectory, s.camera)
    monkeypatch.setattr("icb.compositing.STORED_VALUES", 3)
    fresh = icb.ICB(s.depth, s.trajectory, s.camera, backend=backend)
    complete = [band.complete for band in fresh._bands]
    assert not all(complete) and any(complete)
    np.testing.assert_allclose(fresh(x), kept(x), atol=2e-6)
    np.testing.assert_allclose(fresh.adjoint(x), kept.adjoint(x), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(fresh.mattes(), kept.mattes(), atol=1e-6)


def test_radius_is_the_largest_displacement() -> None:
    s = scene(40, 55, "pan-tilt", 7.0)
    _, kernels = reference.icb_parts(*s.tensors())
    assert max(icb.ICB(s.depth, s.trajectory, s.camera).radius) == kernels.shape[1] // 2
    moved = reference.pwb_displacements(*(s.tensors()[i] for i in (0, 1, 3))).abs()
    assert icb.PWB(s.depth, s.trajectory, s.camera).radius == (int(moved[:, 1].max()), int(moved[:, 0].max()))


def test_a_tensor_as_depth() -> None:
    s = scene(20, 27)
    expected = icb.ICB(s.depth, s.trajectory, s.camera)(s.image())
    np.testing.assert_array_equal(icb.ICB(torch.from_numpy(s.depth), s.trajectory, s.camera)(s.image()), expected)


def test_the_nearest_layer_has_pixels_and_the_bounds_cover_them() -> None:
    s = scene(30, 41, "pan-tilt", 7.0)
    layers = icb.ICB(s.depth, s.trajectory, s.camera).layers
    assert layers[0].far == np.inf
    assert layers[-1].near <= s.depth.min() < layers[-1].far
    assert sum(layer.share for layer in layers) == pytest.approx(1)
    (only,) = icb.ICB(s.depth, scene(30, 41, "pan only").trajectory, s.camera).layers
    assert (only.near, only.far, only.share) == (0, np.inf, 1)


@pytest.mark.parametrize("sigma", [0.3, 0.7, 1.0])
@pytest.mark.parametrize("seed", range(6))
def test_where_only_the_tails_of_the_windows_reach(sigma: float, seed: int) -> None:
    """No pose rests, so pixels near a border may be reached by nothing but the thin end of a window."""
    s = scene(19, 22, "away from rest", 4.0, seed=seed)
    blur = icb.ICB(s.depth, s.trajectory, s.camera, sigma=sigma)
    expected, _ = reference.icb_parts(*s.tensors(), sigma=sigma)
    mattes = blur.mattes()
    assert mattes.min() >= 0
    np.testing.assert_allclose(mattes, expected.numpy(), atol=1e-5)


def test_some_mattes_are_those_of_all() -> None:
    s = scene(30, 41, "pan-tilt", 7.0)
    blur = icb.ICB(s.depth, s.trajectory, s.camera)
    np.testing.assert_array_equal(blur.mattes([3, 1]), blur.mattes()[[3, 1]])


@model_names
def test_the_operator_does_not_change_with_the_callers_arrays(model: str) -> None:
    s = scene(25, 31)
    depth, x = s.depth.copy(), s.image()
    blur = MODELS[model](depth, s.trajectory, s.camera)
    before = blur(x)
    depth *= 3
    np.testing.assert_array_equal(blur(x), before)


@model_names
def test_read_only_and_foreign_arrays(model: str) -> None:
    s = scene(25, 31)
    x = s.image()
    expected = MODELS[model](s.depth, s.trajectory, s.camera)(x)
    for array in (s.depth, x):
        array.setflags(write=False)
    foreign = s.depth.astype(">f4")
    np.testing.assert_array_equal(MODELS[model](s.depth, s.trajectory, s.camera)(x), expected)
    np.testing.assert_array_equal(MODELS[model](foreign, s.trajectory, s.camera)(x.astype(">f4")), expected)
    np.testing.assert_array_equal(MODELS[model](s.depth, s.trajectory, s.camera)(np.asfortranarray(x)), expected)


@model_names
def test_the_functional_transforms_of_torch(model: str) -> None:
    s = scene(11, 13)
    blur = MODELS[model](s.depth, s.trajectory, s.camera)
    x = torch.rand(4, 3, 11, 13, dtype=torch.float64)
    torch.testing.assert_close(torch.func.vmap(blur)(x), blur(x))
    torch.testing.assert_close(torch.func.vmap(blur, in_dims=1)(x), blur(x.movedim(1, 0)))
    gradient = torch.func.grad(lambda t: (blur(t) ** 2).sum())(x)
    torch.testing.assert_close(gradient, 2 * blur.adjoint(blur(x)))
    _, tangent = torch.func.jvp(blur, (x,), (x,))
    torch.testing.assert_close(tangent, blur(x))


@model_names
def test_operators_survive_copying_and_other_processes(model: str) -> None:
    s = scene(70, 31)
    blur, x = MODELS[model](s.depth, s.trajectory, s.camera), s.image()
    expected = blur(x)
    np.testing.assert_array_equal(copy.deepcopy(blur)(x), expected)
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            np.testing.assert_array_equal(pool.apply(blur, (x,)), expected)
