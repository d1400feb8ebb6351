"""LPIPS with its real weights: the package's values, published values, and one pass of the network per image."""

import functools
import warnings
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import icb
from icb import metrics
from icb.example import load_example
from icb.metrics.vision import import_torchvision

NETS = ["vgg", "alex"]
nets = pytest.mark.parametrize("net", NETS)


@functools.cache
def backbone(net: str) -> Path:
    """Obtained by the code that users run, and kept where theirs are."""
    try:
        return metrics.obtain_backbone(net)
    except metrics.WeightsUnavailableError as error:
        pytest.skip(str(error))


@functools.cache
def ours(net: str) -> metrics.Lpips:
    return metrics.Lpips(backbone(net), net)


@functools.cache
def package(net: str) -> Any:
    """The package `lpips` itself, with the same convolutions."""
    weights = load_file(backbone(net))
    import_torchvision()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it uses names that torchvision calls old
        import lpips

        module = lpips.LPIPS(net=net, pnet_rand=True, verbose=False)
    convolutions = [part for part in module.net.modules() if isinstance(part, torch.nn.Conv2d)]
    places = sorted({int(name.split(".")[1]) for name in weights})
    assert len(convolutions) == len(places) == {"vgg": 13, "alex": 5}[net]
    with torch.no_grad():
        for convolution, place in zip(convolutions, places, strict=True):
            convolution.weight.copy_(weights[f"features.{place}.weight"])
            convolution.bias.copy_(weights[f"features.{place}.bias"])
    return module


def tensor(image: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(image).permute(2, 0, 1)[None].float()


def pair(height: int, width: int, dtype: type = np.float32) -> tuple[np.ndarray, np.ndarray]:
    """(estimate, reference): part of a photo, and it blurred and overshooting."""
    photo, _, _ = load_example()
    reference = photo[100 : 100 + height, 200 : 200 + width].astype(dtype)
    estimate = 2 * cv2.GaussianBlur(reference, (0, 0), 2.0) - 0.7
    assert estimate.min() < 0 or estimate.max() > 1
    return estimate.astype(dtype), reference


@nets
@pytest.mark.parametrize(("size", "dtype"), [((35, 49), np.float64), ((83, 70), np.float32)])
def test_equals_the_package(net: str, size: tuple[int, int], dtype: type) -> None:
    estimate, reference = pair(*size, dtype)
    with torch.inference_mode():
        expected = float(package(net)(2 * tensor(estimate) - 1, 2 * tensor(reference) - 1))
    assert expected > 0.1
    assert ours(net)(estimate, reference) == pytest.approx(expected, abs=1e-6)


@nets
@pytest.mark.parametrize("size", [(35, 49), (83, 70)])
def test_the_papers_convention_is_the_package_given_what_the_authors_gave_it(net: str, size: tuple[int, int]) -> None:
    """`lpips.im2tensor` expects 0-255 and was given images between 0 and 1."""
    import_torchvision()
    import lpips

    estimate, reference = pair(*size)
    with torch.inference_mode():
        expected = float(package(net)(lpips.im2tensor(estimate), lpips.im2tensor(reference)))
    assert 0 < expected < 1e-3
    assert ours(net)(estimate, reference, paper=True) == pytest.approx(expected, rel=1e-3)


@functools.cache
def documented_draws() -> tuple[torch.Tensor, torch.Tensor]:
    """The two batches of the example in torchmetrics' documentation, between 0 and 1.

    There the seed is set before the network is made, so the initial values of its layers are drawn first: VGG16's
    convolutions, its classifier, and the five linear layers of LPIPS.
    """
    with torch.random.fork_rng():
        torch.manual_seed(123)
        inputs = 3
        for outputs in (64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512):
            torch.nn.Conv2d(inputs, outputs, 3)
            inputs = outputs
        for inputs, outputs in ((512 * 7 * 7, 4096), (4096, 4096), (4096, 1000)):
            torch.nn.Linear(inputs, outputs)
        for inputs in (64, 128, 256, 512, 512):
            torch.nn.Conv2d(inputs, 1, 1, bias=False)
        return torch.rand(10, 3, 100, 100), torch.rand(10, 3, 100, 100)


@pytest.mark.parametrize(
    ("published", "as_image"),
    [
        # torchmetrics 0.11.4, LearnedPerceptualImagePatchSimilarity(net_type='vgg'), on images in [-1, 1]
        (0.3493, lambda drawn: drawn),
        # torchmetrics 0.7.0, the same on images in [0, 1] as they are, which is 2 x - 1 of x in [0.5, 1]
        (0.3566, lambda drawn: (drawn + 1) / 2),
    ],
)
def test_published_values(published: float, as_image: Any) -> None:
    lpips = ours("vgg")
    firsts, seconds = ([image.permute(1, 2, 0).numpy() for image in as_image(batch)] for batch in documented_draws())
    found = [lpips(first, second) for first, second in zip(firsts, seconds, strict=True)]
    assert np.std(found) > 1e-3  # other draws would not do
    assert np.mean(found) == pytest.approx(published, abs=5.1e-5)


def test_equal_images_are_at_distance_zero() -> None:
    _, reference = pair(35, 49)
    for paper in (False, True):
        assert ours("vgg")(reference, reference.copy(), paper=paper) == 0


def test_one_pass_per_image_and_convention(monkeypatch: pytest.MonkeyPatch) -> None:
    lpips, calls = ours("vgg"), []
    convolve = torch.nn.functional.conv2d

    def counted(*arguments: Any, **options: Any) -> torch.Tensor:
        calls.append(1)
        return convolve(*arguments, **options)

    estimate, reference = pair(35, 49)
    estimates = {"a": estimate, "b": 0.9 * estimate, "sharp": reference}
    monkeypatch.setattr(torch.nn.functional, "conv2d", counted)
    rows = metrics.score(estimates, reference, lpips=lpips)
    assert len(calls) == 13 * 2 * (1 + len(estimates))
    monkeypatch.undo()
    for name, image in estimates.items():
        assert rows[name]["lpips"] == lpips(image, reference)
        assert rows[name]["lpips_paper"] == lpips(image, reference, paper=True)
    assert rows["sharp"]["lpips"] == 0 and rows["a"]["lpips"] != rows["b"]["lpips"]


def test_bad_input() -> None:
    lpips = ours("vgg")
    estimate, reference = pair(35, 49)
    features = lpips.features(reference)
    with pytest.raises(icb.InputError, match=r"estimate: got shape \(34, 49, 3\), expected \(35, 49, 3\)"):
        lpips.distance(features, estimate[1:])
    with pytest.raises(icb.InputError, match=r"estimate: got shape \(35, 49\), expected \(H, W, 3\)"):
        lpips.distance(features, estimate[..., 0])
    with pytest.raises(icb.InputError, match=r"got 15 x 49 pixels, expected at least 16 x 16 for LPIPS of 'vgg'"):
        lpips.features(reference[:15])
    with pytest.raises(icb.InputError, match=r"got 35 x 30 pixels, expected at least 31 x 31 for LPIPS of 'alex'"):
        ours("alex").features(reference[:, :30])
    with pytest.raises(icb.InputError, match=r"features: got those of 'vgg', expected 'alex'"):
        ours("alex").distance(features, estimate)
    estimate[3, 4, 2] = np.nan
    with pytest.raises(icb.InputError, match="estimate: got nan at row 3, column 4"):
        lpips.distance(features, estimate)
    with pytest.raises(icb.InputError, match="net: got 'squeeze', expected 'vgg' or 'alex'"):
        metrics.Lpips(backbone("vgg"), "squeeze")
    with pytest.raises(icb.InputError, match=r"got .* as features\.\d\.weight, expected floats of shape .* for 'alex'"):
        metrics.Lpips(backbone("vgg"), "alex")


def test_smallest_images() -> None:
    for net, least in (("vgg", 16), ("alex", 31)):
        estimate, reference = pair(least, least)
        assert ours(net)(estimate, reference) > 0
