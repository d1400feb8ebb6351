"""Loss, gradients and steps of a fit against a literal one with double backward."""

import math
import os
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest
import torch

import icb
from icb.compiled.sine import sine_and_cosine
from icb.restoration import Network, Settings, evaluate
from icb.restoration.fit import restore
from icb.restoration.frame import Frame, cut
from icb.restoration.loss import finite_steepness, make_patch, patch_loss
from tests import literal_fit, reference
from tests.bench import restore as bench_restore
from tests.fits import tiny_images
from tests.scenes import scene

SIZE = (37, 53)
kinds = pytest.mark.parametrize("kind", ["siren", "fourier"])
models = pytest.mark.parametrize("model", ["icb", "pwb"])
PENALTY = 0.05  # large enough that a mistake in its gradient shows


pytestmark = pytest.mark.usefixtures("one_thread")


def twin(network: Network) -> torch.nn.Module:
    """The literal network with the same numbers."""
    s = network.settings
    net = (
        literal_fit.siren(s.units, s.hidden, s.omega)
        if s.network == "siren"
        else literal_fit.fourier(network.frequencies.double(), s.hidden)
    ).double()
    linears = [module for module in net.modules() if isinstance(module, torch.nn.Linear)]
    with torch.no_grad():
        for linear, weight, bias in zip(linears, network.weights, network.biases, strict=True):
            linear.weight.copy_(weight)
            linear.bias.copy_(bias)
    return net


def gradients(network: Network) -> list[torch.Tensor]:
    return [p.grad for pair in zip(network.weights, network.biases, strict=True) for p in pair]


def assert_gradients_close(network: Network, net: torch.nn.Module, tolerance: float) -> None:
    """To the tolerance times the largest gradient of each tensor."""
    linears = [module for module in net.modules() if isinstance(module, torch.nn.Linear)]
    expected = [p.grad for linear in linears for p in (linear.weight, linear.bias)]
    for got, want in zip(gradients(network), expected, strict=True):
        torch.testing.assert_close(got.double(), want, atol=tolerance * float(want.abs().max()), rtol=0)


@models
@kinds
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_loss_and_gradients_equal_the_literal_ones(
    model: str, kind: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(evaluate.CHUNK, "cpu", 24 * 301)  # several chunks, the last one smaller
    s = scene(*SIZE, "pan-tilt", 4.0)
    operator = {"icb": icb.ICB, "pwb": icb.PWB}[model](s.depth.astype(np.float64), s.trajectory, s.camera)
    frame = Frame(*SIZE, *operator.radius)
    network = Network(Settings(network=kind, width=24, penalty=PENALTY, seed=3), frame)
    net = twin(network)
    network.to(dtype)
    photo = torch.from_numpy(s.image(1, dtype=np.float64)).permute(2, 0, 1)
    rows, columns = (5, 30), (11, 53)
    patch = make_patch(photo.to(dtype), operator, frame, rows, columns)
    points = literal_fit.grid(*SIZE, operator.radius)
    down, right = operator.radius
    mine = points[rows[0] : rows[1] + 2 * down, columns[0] : columns[1] + 2 * right]
    torch.testing.assert_close(patch.points.double(), mine.reshape(-1, 2), atol=1e-7, rtol=0)
    object.__setattr__(patch, "points", mine.reshape(-1, 2).to(dtype))

    def blur(picture: torch.Tensor) -> torch.Tensor:
        whole = torch.nn.functional.pad(
            picture, (columns[0], SIZE[1] - columns[1], rows[0], SIZE[0] - rows[1])
        )  # what lies outside of the padded patch does not matter
        return reference.padded(model, whole, operator.radius, *s.tensors())[:, slice(*rows), slice(*columns)]

    target = 2 * photo[:, slice(*rows), slice(*columns)] - 1
    expected = literal_fit.loss(net, mine, blur, target, PENALTY)
    found = patch_loss(network, patch)
    found.total.backward()
    tolerance = 1e-5 if dtype == torch.float32 else 1e-9
    assert float(found.total.detach()) == pytest.approx(float(expected), rel=tolerance)
    assert float(found.steepness.detach()) * PENALTY > 0.01 * float(expected)
    assert_gradients_close(network, net, tolerance)


@kinds
def test_what_is_not_kept_is_made_again(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for budget in (2**30, 500_000, 0):  # all, some, nothing
        monkeypatch.setattr(evaluate, "KEPT_BYTES", budget)
        monkeypatch.setitem(evaluate.CHUNK, "cpu", 32 * 100)
        network = Network(Settings(network=kind, width=32), Frame(*SIZE, 0, 0))
        values, steepness = network.evaluate(Frame(*SIZE, 0, 0).patch((0, 20), (0, 37)), steepness=True)
        (values.square().mean() + steepness).backward()
        results.append([steepness.detach(), *gradients(network)])
    for alike in zip(*results, strict=True):
        assert torch.equal(alike[0], alike[1]) and torch.equal(alike[0], alike[2])


def test_on_a_gpu_a_patch_of_the_paper_is_kept() -> None:
    """Its chunks are larger than the patch; tensors on no device have sizes, and that is all it takes."""
    frame = Frame(192, 256, 17, 17)
    network = Network(Settings(), frame).to("meta")
    points = frame.patch((0, 96), (0, 128)).to("meta")
    assert points.shape[0] * 192 < evaluate.CHUNK_ELSEWHERE
    assert evaluate.chunks_kept(points, *network.layers(), True) >= 1
    # One chunk of the largest patch, with its activations, is more than may be kept.
    assert evaluate.chunks_kept(torch.empty(10**6, 2, device="meta"), *network.layers(), True) == 0


@kinds
def test_few_sums_over_chunks_are_in_memory_at_a_time(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is as large as all weights: with 100 chunks at once, a wide network would need gigabytes."""
    monkeypatch.setitem(evaluate.CHUNK, "cpu", 16 * 20)
    made: list[weakref.ref[torch.Tensor]] = []
    alive: list[int] = []
    zeros_like = torch.zeros_like

    def counted(tensor: torch.Tensor) -> torch.Tensor:
        zeros = zeros_like(tensor)
        made.append(weakref.ref(zeros))
        alive.append(sum(each() is not None for each in made))
        return zeros

    monkeypatch.setattr(torch, "zeros_like", counted)
    network = Network(Settings(network=kind, width=16, hidden=1), Frame(*SIZE, 0, 0))
    values, steepness = network.evaluate(Frame(*SIZE, 0, 0).patch((0, 37), (0, 53)), steepness=True)
    (values.sum() + steepness).backward()
    assert len(made) > 500
    # Those of the way forward, those of the way back so far, and those of one chunk.
    assert max(alive) <= 3 * 6


def test_without_the_compiled_sine_the_result_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for used in (True, False):
        monkeypatch.setattr("numba.config.DISABLE_JIT", not used)
        assert evaluate.uses_compiled_sine(torch.zeros(1)) == used
        network = Network(Settings(width=48), Frame(*SIZE, 0, 0))
        values, steepness = network.evaluate(Frame(*SIZE, 0, 0).patch((0, 37), (0, 53)), steepness=True)
        (values.square().mean() + steepness).backward()
        results.append([values.detach(), steepness.detach(), *gradients(network)])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, atol=3e-6 * float(other.abs().max()), rtol=0)


def test_where_nothing_is_compiled_a_fit_ends_in_the_same_image(tmp_path: Path) -> None:
    code = (
        "import sys, numpy\n"
        "from icb.compiled.sine import sine_and_cosine\n"
        "from tests.fits import tiny_images\n"
        "assert type(sine_and_cosine).__name__ == 'function'\n"
        "numpy.savez(sys.argv[1], **tiny_images())\n"
    )
    command, environment = [sys.executable, "-c", code, str(tmp_path / "images.npz")], {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run(command, check=True, cwd=Path(__file__).parent.parent, env=os.environ | environment)
    plain = np.load(tmp_path / "images.npz")
    for name, image in tiny_images().items():
        np.testing.assert_allclose(plain[name], image, atol=1e-5)


def test_values_and_gradients_do_not_depend_on_the_number_of_threads() -> None:
    results = []
    before = torch.get_num_threads()
    try:
        for threads in (1, 3, 2):
            torch.set_num_threads(threads)
            network = Network(Settings(), Frame(*SIZE, 0, 0))
            values, steepness = network.evaluate(Frame(*SIZE, 0, 0).patch((0, 37), (0, 53)), steepness=True)
            (values.sum() + steepness).backward()
            results.append([values.detach(), steepness.detach(), *gradients(network)])
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            assert torch.equal(one, two)


def test_compiled_sine_and_cosine() -> None:
    random = np.random.default_rng(0)
    angles = np.concatenate(
        [random.normal(0, 30, 100_003), random.uniform(-9e3, 9e3, 10_001), [0.0, np.pi / 2, -np.pi]]
    )
    angles = angles.astype(np.float32)
    sine, cosine = angles.copy(), np.empty_like(angles)
    sine_and_cosine(sine, cosine)
    np.testing.assert_allclose(sine, np.sin(angles.astype(np.float64)), atol=2e-7, rtol=0)
    np.testing.assert_allclose(cosine, np.cos(angles.astype(np.float64)), atol=2e-7, rtol=0)
    strange = np.array([np.nan, np.inf, -np.inf], np.float32)
    sine_and_cosine(strange, np.empty_like(strange))
    assert np.isnan(strange).all()


def test_the_first_weights_are_those_of_a_siren() -> None:
    """Bounds of Sitzmann et al. 2020, Sec. 3.2 and its supplement; biases as torch.nn.Linear sets them."""
    network = Network(Settings(), Frame(*SIZE, 0, 0))
    assert [tuple(w.shape) for w in network.weights] == [(192, 2), *[(192, 192)] * 4, (3, 192)]
    hidden = math.sqrt(6 / 192) / 30
    for index, bound in enumerate([0.5, hidden, hidden, hidden, hidden, hidden]):
        largest = float(network.weights[index].detach().abs().max())
        assert 0.93 * bound < largest <= bound
        inputs = network.weights[index].shape[1]
        assert float(network.biases[index].detach().abs().max()) <= 1 / math.sqrt(inputs)
        if index < 5:
            assert float(network.biases[index].detach().abs().max()) > 0.9 / math.sqrt(inputs)
    fourier = Network(Settings(network="fourier"), Frame(*SIZE, 0, 0))
    assert [tuple(w.shape) for w in fourier.weights] == [*[(448, 448)] * 4, (3, 448)]
    assert fourier.frequencies.shape == (224, 2) and float(fourier.frequencies.std()) == pytest.approx(5, rel=0.1)
    assert not fourier.frequencies.requires_grad


def test_the_benchmark_lets_the_literal_network_see_the_same_points() -> None:
    s = bench_restore.layered_scene()
    blur = icb.ICB(s.depth, s.trajectory, s.camera, n=1.25)
    assert blur.radius[0] != blur.radius[1]
    assert bench_restore.layers_seen(blur) == 25 and bench_restore.kernel_of(blur) == 35
    ours = Frame(*blur.shape, *blur.radius).patch(bench_restore.ROWS, bench_restore.COLUMNS)
    torch.testing.assert_close(bench_restore.literal_points(blur).reshape(-1, 2), ours, atol=1e-6, rtol=0)


def test_finite_differences_approach_the_analytic_gradient() -> None:
    frame = Frame(400, 301, 0, 0)
    network = Network(Settings(omega=3.0, width=16), frame)
    values, analytic = network.evaluate(frame.patch((0, 400), (0, 301)), steepness=True)
    finite = finite_steepness(values.sum(1).reshape(400, 301), frame.spacing)
    assert float(finite.detach()) == pytest.approx(float(analytic.detach()), rel=0.01)
    assert float(analytic.detach()) > 0.01
    assert float(finite_steepness(torch.ones(1, 1), (1.0, 1.0))) == 0


def test_finite_differences_written_out() -> None:
    sums = torch.tensor([[1.0, 4.0, 2.0], [0.0, 4.0, 9.0]])
    across, down = (3 + 2 + 4 + 5) / 4, (1 + 0 + 7) / 3
    assert float(finite_steepness(sums, (0.5, 0.25))) == pytest.approx(down / 0.5 + across / 0.25)


@pytest.mark.parametrize("gradient", ["analytic", "finite-difference"])
def test_a_whole_fit_equals_the_literal_one(gradient: str) -> None:
    """Adam with cosine annealing and clipping, patch by patch: torch's own optimiser and scheduler."""
    s = scene(*SIZE, "pan-tilt", 4.0)
    blur = icb.ICB(s.depth, s.trajectory, s.camera)
    photo, epochs = s.image(2), 3
    settings = Settings(width=24, epochs=epochs, patch=(20, 30), gradient=gradient, penalty=PENALTY, clip=0.02, seed=5)
    found = restore(photo, blur, settings)

    frame = Frame(*SIZE, *blur.radius)
    net = twin(Network(settings, frame))
    optimiser = torch.optim.Adam(net.parameters(), lr=5e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs, eta_min=5e-6)
    points = literal_fit.grid(*SIZE, blur.radius)
    mattes, kernels = reference.icb_parts(*s.tensors())
    middle, (down, right) = kernels.shape[1] // 2, blur.radius
    y = 2 * torch.from_numpy(photo).permute(2, 0, 1).double() - 1
    places = [((0, 18), (0, 26)), ((0, 18), (26, 53)), ((18, 37), (0, 26)), ((18, 37), (26, 53))]
    assert cut(*SIZE, (20, 30)) == places
    losses = []
    for epoch in range(epochs):
        for index in np.random.default_rng([5, epoch]).permutation(4):
            (top, bottom), (left, end) = places[index]
            optimiser.zero_grad()
            mine = points[top : bottom + 2 * down, left : end + 2 * right]
            small = kernels[:, middle - down : middle + down + 1, middle - right : middle + right + 1]
            seen = mattes[:, top:bottom, left:end]
            coordinates = mine.clone().requires_grad_()
            values = net(coordinates)
            blurred = literal_fit.dense_blur(values.permute(2, 0, 1), seen, small)
            total = ((blurred - y[:, top:bottom, left:end]) ** 2).mean()
            if gradient == "analytic":
                (slope,) = torch.autograd.grad(values.sum(), coordinates, create_graph=True)
                total = total + PENALTY * slope.abs().sum(-1).mean()
            else:
                sums = values.sum(-1)
                step_x, step_y = (points[1, 1] - points[0, 0]).tolist()
                total = total + PENALTY * (sums[1:] - sums[:-1]).abs().mean() / step_y
                total = total + PENALTY * (sums[:, 1:] - sums[:, :-1]).abs().mean() / step_x
            total.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 0.02)
            optimiser.step()
            losses.append(float(total.detach()))
        scheduler.step()
    np.testing.assert_allclose(found.history.loss, np.mean(np.reshape(losses, (epochs, 4)), axis=1), rtol=1e-4)
    with torch.no_grad():
        image = (net(points[down : down + SIZE[0], right : right + SIZE[1]]) + 1) / 2
    np.testing.assert_allclose(found.image, image.numpy(), atol=1e-3)


@pytest.mark.parametrize(
    ("size", "pieces", "first"), [((192, 256), 4, (96, 128)), ((720, 1280), 25, (144, 256)), ((1, 1), 1, (1, 1))]
)
def test_patches_are_those_of_the_paper(size: tuple[int, int], pieces: int, first: tuple[int, int]) -> None:
    found = cut(*size, None)
    assert len(found) == pieces
    assert found[0] == ((0, first[0]), (0, first[1]))


@pytest.mark.parametrize("size", [(37, 53), (145, 257), (1, 9), (300, 700)])
@pytest.mark.parametrize("patch", [None, (10, 20), (1000, 1000), (1, 7)])
def test_patches_cover_every_pixel_once(size: tuple[int, int], patch: tuple[int, int] | None) -> None:
    seen = np.zeros(size, int)
    sizes = set()
    for (top, bottom), (left, right) in cut(*size, patch):
        seen[top:bottom, left:right] += 1
        sizes.add((bottom - top, right - left))
    assert (seen == 1).all()
    heights, widths = zip(*sizes, strict=True)
    assert max(heights) - min(heights) <= 1 and max(widths) - min(widths) <= 1
    if patch is not None:
        assert max(heights) <= patch[0] and max(widths) <= patch[1]
