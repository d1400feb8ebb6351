"""Networks as files and as pictures of any size."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import icb
from icb.errors import OutputError
from icb.restoration import Network, Settings, load_network, restore
from icb.restoration.frame import Frame


@pytest.mark.parametrize("kind", ["siren", "fourier"])
def test_a_network_comes_back_from_its_file(kind: str, tmp_path: Path) -> None:
    network = Network(Settings(network=kind, width=20, hidden=3, patch=(5, 6)), Frame(11, 17, 3, 2))
    network.save(tmp_path / "n.safetensors")
    loaded = load_network(tmp_path / "n.safetensors")
    assert (loaded.settings, loaded.frame) == (network.settings, network.frame)
    np.testing.assert_array_equal(loaded.render(), network.render())
    assert icb.load_network is load_network and icb.restore is restore


def test_a_picture_that_memory_cannot_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> np.ndarray:
        raise MemoryError

    network = Network(Settings(width=4), Frame(11, 17, 3, 2))
    monkeypatch.setattr(np, "empty", full)
    with pytest.raises(icb.InputError, match="size: got 500 x 400 pixels, expected as many as fit in memory"):
        network.render((500, 400))


def test_files_are_written_as_any_other(tmp_path: Path) -> None:
    """Readable by whom the user lets; and a place that cannot be written is no fault of the network."""
    network = Network(Settings(width=4), Frame(11, 17, 3, 2))
    network.save(tmp_path / "n.safetensors")
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "n.safetensors").stat().st_mode == (tmp_path / "plain").stat().st_mode
    with pytest.raises(OutputError, match=r"plain/n\.safetensors: cannot be written: "):
        network.save(tmp_path / "plain" / "n.safetensors")
    with pytest.raises(OutputError, match=r"/proc/n\.safetensors: cannot be written: "):
        network.save("/proc/n.safetensors")


def test_rendering_at_any_size_and_crop(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(Settings(width=16, hidden=1, omega=4.0), Frame(11, 17, 3, 2))
    image = network.render()
    assert image.shape == (11, 17, 3)
    np.testing.assert_allclose(network.render(box=(2, 5, 4, 7)), image[2:6, 5:12], atol=1e-6)
    # Three times as large, the middle of every three pixels is the pixel itself.
    np.testing.assert_allclose(network.render(scale=3)[1::3, 1::3], image, atol=1e-6)
    np.testing.assert_allclose(network.render((44, 34), (0, 0, 11, 17)).shape, (44, 34, 3))
    np.testing.assert_allclose(
        network.render((4, 6), (5.5, 2.25, 2, 3)), network.render((12, 18), (5.5, 2.25, 2, 3))[1::3, 1::3], atol=1e-6
    )
    # The image is the middle of the padded one, whose corners are at -1 and 1.
    padded = network.render(box=(-3, -2, 17, 21))
    np.testing.assert_allclose(padded[3:-3, 2:-2], image, atol=1e-6)
    corner = (network(torch.tensor([-1.0, -1.0])) + 1) / 2
    np.testing.assert_allclose(padded[0, 0], corner.detach().numpy(), atol=1e-6)
    across = (network(torch.tensor([1.0, -1.0])) + 1) / 2  # x first
    np.testing.assert_allclose(padded[0, -1], across.detach().numpy(), atol=1e-6)
    monkeypatch.setattr("icb.restoration.network.PIXELS_AT_ONCE", 7)  # less than a row
    np.testing.assert_allclose(network.render(), image, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": 0.0}, "scale: got 0.0, expected a number above 0"),
        ({"size": (0, 4)}, "size: got 0 x 4"),
        ({"size": (10**6, 10**6)}, "size: got 1000000 x 1000000 pixels, expected at least one pixel and at most 1,0"),
        ({"scale": 1e5}, "size: got 1100000 x 1700000 pixels"),
        ({"scale": 1e300}, r"scale: got 1e\+300, expected a picture of at most"),
        ({"scale": 1.7e308}, r"scale: got 1.7e\+308, expected a picture of at most"),
        (
            {"box": (0, 0, 15, 3)},
            "part: got 15 x 3 pixels at 0, 0, expected some of 11 x 17 pixels, padded by 3 and 2",
        ),
        ({"box": (-4, 0, 5, 5)}, "part: got 5 x 5 pixels at -4, 0"),
        ({"box": (0, 0, 0, 5)}, "part: got 0 x 5 pixels"),
    ],
)
def test_what_cannot_be_rendered(options: dict[str, Any], message: str) -> None:
    with pytest.raises(icb.InputError, match=message):
        Network(Settings(width=4), Frame(11, 17, 3, 2)).render(**options)
