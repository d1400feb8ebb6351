"""What comes out, for pandas, DuckDB and polars; and captures and datasets from all places they may come from."""

import hashlib
import io
import re
import shutil
import stat
import tarfile
import threading
import urllib.parse
import zipfile
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import icb
from datasets import published
from datasets.build import Options, build
from datasets.index import read_index
from icb import InputError
from icb.pictures import read_image
from tests import captures
from tests.pipeline import Project, settings
from workflow.lib import archives

PHONE, ZIPPED, TWIN, TARRED = "bundle-2023-01-01_00-00-00", "OfficeTrucking_4", "twin", "StudioStandard_1"


def checksum(path: Path, kind: str = "sha256") -> str:
    return f"{kind}:{hashlib.new(kind, path.read_bytes()).hexdigest()}"


def source(path: Path, kind: str = "sha256", *, url: bool = False) -> dict[str, str]:
    """The archive as the configuration has it."""
    place = "file://" + urllib.parse.quote(str(path)) if url else str(path)
    return {"source": place, "checksum": checksum(path, kind)}


def write_zip(path: Path, folder: Path) -> Path:
    return Path(shutil.make_archive(str(path.with_suffix("")), "zip", folder.parent, folder.name))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """After a run over a simulated capture, a raw one, published datasets and two archives."""
    folder = tmp_path_factory.mktemp("all sources")
    captures.make_ios(folder / "raw", PHONE, size=(96, 136), depth_size=(24, 34), frames=8)
    twins = [
        captures.make_unity(folder / "for unity", TWIN, size=(24, 33), poses=5),
        captures.make_ios(folder / "for iOS", TWIN, size=(96, 136), depth_size=(24, 34), frames=5),
    ]
    build(twins, folder / "published", Options(averaging="srgb"))
    captures.make_unity(folder / "inner" / "captures", ZIPPED, size=(27, 22), poses=4, modes=("xy", ""))
    # In the published layout, by others: without an index and without notes on where samples come from.
    build([captures.make_unity(folder, TARRED, size=(23, 31), poses=5)], folder / "outer" / "data", Options())
    shutil.rmtree(folder / "outer" / "data" / "VirtualCMB" / "provenance")
    (folder / "outer" / "data" / "index.parquet").unlink()
    with tarfile.open(folder / "data set.tar.gz", "w:gz") as archive:
        archive.add(folder / "outer", "outer")
    sources = [
        source(write_zip(folder / "captures.zip", folder / "inner")),
        source(folder / "data set.tar.gz", "md5", url=True),
    ]
    simulated = {"scenes": ["Studio"], "cases": ["Macro"], "motions": ["parallax"], "ios": 0}
    simulated |= {"size": [18, 25], "poses": 3, "samples_per_pixel": 1}
    places = {"simulate": simulated, "published": ["published"], "archives": sources}
    project = Project(folder, config=settings(captures=places, build={"window": 4}))
    project.run("all")
    return project


def test_all_of_it_is_up_to_date(project: Project) -> None:
    assert project.run("all").idle
    assert "show_one" in project.run(ZIPPED, options=["--dry-run"]).text  # a capture from an archive, by its id
    both = project.run(TWIN, options=["--dry-run"]).text  # an id that both datasets have
    assert re.search(r"^show_one +2$", both, re.MULTILINE)


def test_everything_from_everywhere_is_there(project: Project) -> None:
    rows = {(row["path"], row["name"]): row for row in project.rows("captures.parquet")}
    assert {row["status"] for row in rows.values()} == {"used"}
    origins = {(row["name"], row["dataset"]): row["origin"] for row in rows.values()}
    (simulated,) = [name for (name, _), origin in origins.items() if origin == "simulated"]
    assert origins == {
        (simulated, "VirtualCMB"): "simulated",
        (PHONE, "RealCMB"): "captured",
        (ZIPPED, "VirtualCMB"): "captured",
        (TWIN, "VirtualCMB"): "published",
        (TWIN, "RealCMB"): "published",
        (TARRED, "VirtualCMB"): "published",
    }
    samples = {row["name"]: row["samples"] for row in rows.values()}
    assert samples[PHONE] == 2 and samples[simulated] == 1  # 8 frames, windows of 4
    blurred = {(row["dataset"], row["id"], row["model"]) for row in project.rows("metrics/blur.parquet")}
    assert blurred == {
        (dataset, name, model)
        for dataset, names in {
            "VirtualCMB": {simulated, ZIPPED, TWIN, TARRED},
            "RealCMB": {f"{PHONE}_0", f"{PHONE}_4", TWIN},
        }.items()
        for name in names
        for model in ("ICB", "PWB")
    }


TEXT = {"dataset", "id", "model", "scene", "case", "motion", "configuration_sha256", "icb_version", "torch_version"}
NUMBERS = {"psnr", "ssim", "ssim_paper", "lpips", "lpips_paper", "seconds", "sigma", "n"}
WHOLE = {"layers", "kernel_size", "peak_memory", "height", "width", "poses"}
FLAGS = {"simulated"}


def test_the_schema_is_the_same_whatever_is_in_the_table(project: Project) -> None:
    schema = pq.read_schema(project.results / "metrics" / "blur.parquet")
    for names, check in (
        (TEXT, pa.types.is_string),
        (NUMBERS, pa.types.is_float64),
        (WHOLE, pa.types.is_integer),
        (FLAGS, pa.types.is_boolean),
    ):
        for name in names:
            assert check(schema.field(name).type), name
    required = {"dataset", "id", "model", "psnr", "ssim", "ssim_paper", "seconds", "simulated"}
    assert not any(schema.field(name).nullable for name in required)


def test_pandas(project: Project) -> None:
    table = pd.read_parquet(project.results / "metrics" / "blur.parquet")
    assert not table.duplicated(["dataset", "id", "model"]).any()
    assert all(table[name].dtype == np.float64 for name in NUMBERS)
    assert table["simulated"].dtype == bool and table["simulated"].sum() == 2
    assert table["psnr"].between(10, 100).all() and table["ssim"].between(0, 1).all()
    assert table["lpips"].isna().all()  # switched off: a column of numbers all the same
    by_model = table.set_index("model")
    assert by_model.loc["PWB", "layers"].isna().all() and (by_model.loc["ICB", "layers"] >= 1).all()
    assert (table["kernel_size"] % 2 == 1).all()
    assert table.groupby("model")["configuration_sha256"].nunique().to_dict() == {"ICB": 3, "PWB": 3}
    cut = table[table["id"].str.startswith(PHONE)]  # the window is a setting of these, and of no others
    assert len(set(cut["configuration_sha256"]) & set(table.drop(cut.index)["configuration_sha256"])) == 0
    assert set(table["icb_version"]) == {icb.__version__}


def test_duckdb(project: Project) -> None:
    path = project.results / "metrics" / "blur.parquet"
    types = dict(duckdb.sql(f"select column_name, column_type from (describe select * from '{path}')").fetchall())
    assert {types[name] for name in TEXT} == {"VARCHAR"}
    assert {types[name] for name in NUMBERS} == {"DOUBLE"}
    assert {types[name] for name in WHOLE} <= {"INTEGER", "BIGINT"}
    assert {types[name] for name in FLAGS} == {"BOOLEAN"}
    means = duckdb.sql(f"select model, avg(psnr), count(*) from '{path}' group by model order by model").fetchall()
    expected = pd.read_parquet(path).groupby("model")["psnr"].agg(["mean", "count"])
    assert [(name, count) for name, _, count in means] == [("ICB", 7), ("PWB", 7)]
    assert [mean for _, mean, _ in means] == pytest.approx(list(expected["mean"]))
    captured = project.results / "captures.parquet"
    joined = duckdb.sql(
        f"select count(*) from '{path}' b join '{captured}' c on b.id = c.name and b.dataset = c.dataset"
    )
    assert joined.fetchall() == [(10,)]  # all but the two windows of the recording


def test_polars(project: Project) -> None:
    table = pl.read_parquet(project.results / "metrics" / "blur.parquet")
    assert {table.schema[name] for name in TEXT} == {pl.String}
    assert {table.schema[name] for name in NUMBERS} == {pl.Float64}
    assert {table.schema[name] for name in WHOLE} <= {pl.Int32, pl.Int64}
    assert table.schema["simulated"] == pl.Boolean
    assert table.filter(pl.col("id") == ZIPPED)["motion"].unique().to_list() == ["parallax"]
    assert table.filter(pl.col("id") == ZIPPED)["case"].unique().to_list() == ["Trucking"]
    assert table["lpips"].null_count() == len(table)


def test_the_numbers_are_those_of_the_library(project: Project) -> None:
    """Each estimate once more, straight from the sample that the pipeline shows."""
    for row in project.rows("metrics/blur.parquet"):
        sample = published.read_sample(project.results / "datasets", row["id"], row["dataset"])
        model = {"ICB": icb.ICB, "PWB": icb.PWB}[row["model"]]
        blur = model(sample.depth, sample.trajectory, sample.camera)
        estimate = blur((sample.sharp / np.float32(255)).astype(np.float32))
        assert hashlib.sha256(np.ascontiguousarray(estimate).tobytes()).hexdigest() == row["estimate_sha256"]
        wanted = sample.blurry / 255
        assert row["psnr"] == pytest.approx(-10 * np.log10(np.mean((estimate - wanted) ** 2)), abs=1e-4)
        picture = read_image(project.results / "blur" / row["model"] / row["dataset"] / f"{row['id']}.png")
        np.testing.assert_allclose(np.asarray(picture, float), np.clip(estimate, 0, 1), atol=0.51 / 255)
        assert row["simulated"] == sample.simulated


def test_the_datasets_are_in_the_published_layout(project: Project) -> None:
    shown = project.results / "datasets"
    index = {(row["dataset"], row["id"]): row for row in read_index(shown)}
    assert list(index) == published.list_samples(shown)
    assert index["VirtualCMB", TWIN]["averaging"] == "srgb"
    assert index["VirtualCMB", TARRED]["source_format"] == "published"
    for (dataset, name), row in index.items():
        sample = published.read_sample(shown, name, dataset)
        assert (row["height"], row["width"]) == sample.sharp.shape[:2]
    # What is not ours is linked to, not copied; what is ours cannot be spoilt by writing to it.
    link = shown / "VirtualCMB" / "sharp_ref" / f"{TWIN}.png"
    assert link.resolve() == project.folder / "published" / "VirtualCMB" / "sharp_ref" / f"{TWIN}.png"
    assert not stat.S_IMODE((shown / "RealCMB" / "sharp_ref" / f"{PHONE}_0.png").stat().st_mode) & 0o222


def test_the_published_layout_is_what_the_builder_makes(project: Project, tmp_path: Path) -> None:
    """Byte for byte, whoever runs it."""
    build([project.folder / "raw" / PHONE], tmp_path, Options(window=4))
    for path in (tmp_path / "RealCMB").rglob("*"):
        if path.is_file():
            other = project.results / "datasets" / path.relative_to(tmp_path)
            assert other.read_bytes() == path.read_bytes(), other


def test_an_archive_that_is_added_later(project: Project, tmp_path: Path) -> None:
    """Tables that are there already do not keep it from being unpacked; one with another checksum is refused."""
    shutil.copytree(project.folder, tmp_path / "copy", symlinks=True)
    captures.make_unity(tmp_path / "later", "VillageMacro_9", size=(21, 26), poses=3)
    path = write_zip(tmp_path / "later.zip", tmp_path / "later" / "VillageMacro_9")
    places = project.config["captures"]
    wrong = {"source": str(path), "checksum": f"sha256:{'0' * 64}"}
    copy = Project(tmp_path / "copy", config={**project.config, "captures": {**places, "published": []}})
    copy.config["captures"]["archives"] = [*places["archives"], wrong]
    run = copy.run(code=1)
    assert f"{path}: got {checksum(path)}, expected {wrong['checksum']}" in run.text
    assert "The log is results/logs/archives/" in run.text and "The run did not end well" in run.text
    copy.config["captures"]["archives"] = [*places["archives"], source(path)]
    copy.run()
    names = {row["id"] for row in copy.rows("metrics/blur.parquet")}
    assert "VillageMacro_9" in names and ZIPPED in names
    assert TWIN not in names  # which is not asked for any more
    assert not any(path.name.startswith(TWIN) for path in copy.results.glob("datasets/**/*"))


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """Something to pack."""
    folder = tmp_path / "plain" / "captures"
    (folder / "one" / "frames").mkdir(parents=True)
    (folder / "one" / "frames" / "0.png").write_bytes(b"\x89PNG")
    (folder / "two").mkdir()
    (folder / "two" / "params.txt").write_text("{}")
    return folder


@pytest.mark.parametrize("form", ["zip", "tar", "gztar", "bztar", "xztar"])
@pytest.mark.parametrize("url", [False, True])
def test_archives_of_all_forms(form: str, url: bool, plain: Path, tmp_path: Path) -> None:
    path = Path(shutil.make_archive(str(tmp_path / "a pack"), form, plain.parent, plain.name))
    before = path.read_bytes()
    target = tmp_path / "results" / "unpacked"
    archives.obtain(**source(path, url=url), folder=target)
    assert tree(target) == tree(plain)  # without the folder around everything
    assert [entry.name for entry in target.parent.iterdir()] == ["unpacked"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("url", [False, True])
def test_an_archive_with_another_checksum(url: bool, plain: Path, tmp_path: Path) -> None:
    """It is refused, whole, and nobody's own file is removed for it, whatever it is called."""
    path = write_zip(tmp_path / "pack.zip", plain).rename(tmp_path / "pack.part")
    wrong = source(path, url=url) | {"checksum": "md5:" + "0" * 32}
    target = tmp_path / "results" / "unpacked"
    with pytest.raises(InputError, match=r"pack\.part: got md5:\w+, expected md5:0{32}$"):
        archives.obtain(**wrong, folder=target)
    assert path.exists()
    assert list(target.parent.iterdir()) == []


def hostile_zip(path: Path, name: str, mode: int = 0o644) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("good/frames/0.png", b"good")
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        archive.writestr(info, b"/etc/passwd" if stat.S_ISLNK(mode) else b"evil")


def hostile_tar(path: Path, name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> None:
    with tarfile.open(path, "w") as archive:
        for entry, form in (("good/frames/0.png", tarfile.REGTYPE), (name, kind)):
            info = tarfile.TarInfo(entry)
            info.type, info.size, info.linkname = form, 4 * (form == tarfile.REGTYPE), target
            archive.addfile(info, io.BytesIO(b"evil"))


HOSTILE: dict[str, Callable[[Path], Any]] = {
    "zip, above": lambda path: hostile_zip(path, "../evil"),
    "zip, above, in the middle": lambda path: hostile_zip(path, "good/../../evil"),
    "zip, absolute": lambda path: hostile_zip(path, f"{path.parent}/evil"),
    "zip, backslashes": lambda path: hostile_zip(path, "..\\evil"),
    "zip, drive": lambda path: hostile_zip(path, "C:\\evil"),
    "zip, link": lambda path: hostile_zip(path, "evil", stat.S_IFLNK | 0o777),
    "tar, above": lambda path: hostile_tar(path, "../evil"),
    "tar, absolute": lambda path: hostile_tar(path, f"{path.parent}/evil"),
    "tar, link": lambda path: hostile_tar(path, "evil", tarfile.SYMTYPE, "/etc/passwd"),
    "tar, link to a folder above": lambda path: hostile_tar(path, "good/up", tarfile.SYMTYPE, "../.."),
    "tar, hard link": lambda path: hostile_tar(path, "evil", tarfile.LNKTYPE, "/etc/passwd"),
    "tar, device": lambda path: hostile_tar(path, "evil", tarfile.CHRTYPE),
    "tar, pipe": lambda path: hostile_tar(path, "evil", tarfile.FIFOTYPE),
    "a file where a folder is": lambda path: hostile_zip(path, "good/frames/0.png/evil"),
    "no archive": lambda path: path.write_bytes(b"evil"),
    "an archive that ends early": lambda path: path.write_bytes(_cut_zip()),
}


def _cut_zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(1000))
        archive.writestr("b", bytes(1000))
    return stream.getvalue()[20:]


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_archive_is_refused_and_writes_nothing(kind: str, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    path = inner / "archive"
    HOSTILE[kind](path)
    target = inner / "results" / "unpacked"
    with pytest.raises(InputError, match="archive: "):
        archives.obtain(**source(path), folder=target)
    assert sorted(str(entry.relative_to(tmp_path)) for entry in tmp_path.rglob("*")) == [
        "inner",
        "inner/archive",
        "inner/results",
    ]


def test_an_archive_that_is_not_there(tmp_path: Path) -> None:
    for where in (str(tmp_path / "nothing.zip"), f"file://{tmp_path}/nothing.zip"):
        with pytest.raises(InputError, match=r"nothing\.zip: cannot be (read|fetched)"):
            archives.obtain(where, f"md5:{'0' * 32}", tmp_path / "unpacked")
    assert list(tmp_path.iterdir()) == []


class Server(BaseHTTPRequestHandler):
    """Serves one file, from the byte on that it is asked for."""

    content = b""
    asked: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.asked.append(wanted)
        first = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        if first >= len(self.content):
            self.send_error(416)
            return
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(self.content) - first))
        self.end_headers()
        self.wfile.write(self.content[first:])

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.mark.parametrize("share", [0, 0.4, 1])
def test_a_download_goes_on_where_it_was_cut_off(
    share: float, plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    path = write_zip(tmp_path / "pack.zip", plain)
    Server.content = path.read_bytes()
    Server.asked.clear()
    begun = int(share * len(Server.content))
    target = tmp_path / "results" / "unpacked"
    if begun:
        target.parent.mkdir()
        target.with_name(".unpacked.part").write_bytes(Server.content[:begun])
    with HTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        archives.obtain(f"http://127.0.0.1:{server.server_port}/pack.zip", checksum(path), target)
    assert Server.asked == [f"bytes={begun}-" if begun else None]
    assert tree(target) == tree(plain)
    assert [entry.name for entry in target.parent.iterdir()] == ["unpacked"]
