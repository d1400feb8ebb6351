"""The page of one sample: pictures to compare, maps beside them, and every number with its origin."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from datasets.sample import Sample
from icb import ImageCompositingBlur, Trajectory
from icb.figures.comparison import DEVIATIONS, LEAST, error_map, error_scale, largest_difference
from icb.pictures import as_unit, read_image
from workflow.lib.site import pictures
from workflow.lib.site.numbers import METRICS, cell_of, plain, short, unrounded_of
from workflow.lib.site.subjects import INDEX, TABLES, TARGETS, Result, Subject
from workflow.lib.site.templates import render

PAGE = "index.html"


@dataclass(frozen=True)
class Number:
    """A number in a caption, and the row that it comes from."""

    text: str
    row: str = "index"


Caption = tuple[str | Number, ...]


@dataclass(frozen=True)
class Map:
    """A picture beside those that are compared."""

    file: str
    label: str
    about: Caption  #: what its colours mean
    box: tuple[int, int, int, int] | None = None


def make_page(subject: Subject, sample: Sample, folder: Path) -> None:
    """Write the page into a folder, in which the pictures themselves will lie as ``<slug>.png``."""
    focus: dict[str, list[float]] = {}
    maps: list[Map] = []
    for kind in TABLES:
        if results := subject.of_kind(kind):
            made, focus[kind] = _errors(results, sample, folder)
            maps += made
    maps += [_depth(subject, sample, folder), *_layers(subject, sample, folder)]
    pictures.write_webp(folder / "thumb-blurry.webp", pictures.thumbnail(sample.blurry))
    page = render(
        "sample.html",
        root="../../",
        title=subject.id,
        subject=subject,
        row=subject.row,
        size=sample.sharp.shape[:2],
        exposure=short(subject.row["exposure"]),
        shown=_shown(subject),
        maps=maps,
        focus=focus,
        path=_path(subject, sample.trajectory),
        metrics=METRICS,
        cell=cell_of,
        unrounded=unrounded_of,
        sources=[_source(subject, None), *(_source(subject, result) for result in subject.results)],
    )
    (folder / PAGE).write_text(page, encoding="utf-8")


def _shown(subject: Subject) -> list[dict[str, Any]]:
    """The pictures that can be compared, in the order of their keys."""
    originals = [
        {"slug": "sharp", "label": "Sharp", "alt": "the sharp reference", "box": None},
        {"slug": "blurry", "label": "Blurry", "alt": "the captured blur", "box": None},
    ]
    made = [
        {"slug": result.slug, "label": result.label, "alt": f"{result.label} estimate", "box": result.box}
        for result in subject.results
    ]
    return originals + made


def _errors(results: Sequence[Result], sample: Sample, folder: Path) -> tuple[list[Map], list[float]]:
    """Error maps of all results of a kind, on one scale, their thumbnails, and where they differ most."""
    errors: dict[str, np.ndarray] = {}
    for result in results:
        top, left, height, width = result.box or (0, 0, *sample.sharp.shape[:2])
        target = getattr(sample, TARGETS[result.kind])[top : top + height, left : left + width]
        picture = read_image(result.picture)
        errors[result.slug] = error_map(picture, as_unit(target))
        small = pictures.thumbnail((picture * 255 + 0.5).astype(np.uint8))
        pictures.write_webp(folder / f"thumb-{result.slug}.webp", small)
    worst = min(results, key=lambda result: float(result.row["psnr"]))
    scale = error_scale(worst.row["psnr"])
    maps = []
    for result in results:
        shown = pictures.error_picture(errors[result.slug], scale)
        pictures.write_webp(folder / f"error-{result.slug}.webp", shown, exact=True)
        pictures.write_webp(folder / f"thumb-error-{result.slug}.webp", pictures.thumbnail(shown))
        about = (f"absolute difference to the {TARGETS[result.kind]} picture: black is none, white ", *limit_of(worst))
        maps.append(Map(f"error-{result.slug}.webp", f"Error of {result.label}", about, result.box))
    rows, columns = largest_difference(list(errors.values()))
    top, left, *_ = results[0].box or (0, 0)
    height, width = sample.sharp.shape[:2]
    # Centre and size, as shares of the picture.
    size = max((rows.stop - rows.start) / height, (columns.stop - columns.start) / width)
    middle = (left + (columns.start + columns.stop) / 2) / width, (top + (rows.start + rows.stop) / 2) / height
    return maps, [*middle, size]


def limit_of(worst: Result) -> Caption:
    """Up to where error maps go, of which ``worst`` is the one with the largest error."""
    scale = error_scale(worst.row["psnr"])
    if scale == LEAST:
        return ("1/255 of 1, the least that 8 bits can tell",)
    return (Number(short(scale), worst.slug), f" of 1, {DEVIATIONS} times the root mean square error of {worst.label}")


def _depth(subject: Subject, sample: Sample, folder: Path) -> Map:
    pictures.write_webp(folder / "depth.webp", pictures.depth_picture(sample.depth), exact=True)
    if not np.isfinite(sample.depth).any():
        return Map("depth.webp", "Depth", ("infinitely far",))
    near, far = (Number(f"{short(subject.row[name])} m") for name in ("depth_min", "depth_max"))
    about: Caption = (near, " (yellow) to ", far, " (blue), on a logarithmic scale; black is infinitely far")
    return Map("depth.webp", "Depth", about)


def _layers(subject: Subject, sample: Sample, folder: Path) -> list[Map]:
    """The layers of the first ICB among the models, if there is one."""
    result = next((result for result in subject.of_kind("blur") if result.row["kind"] == "icb"), None)
    if result is None:
        return []
    blur = ImageCompositingBlur(sample.depth, sample.trajectory, sample.camera, n=result.row["n"])
    count = int(result.row["layers"])
    pictures.write_webp(folder / "layers.webp", pictures.layer_picture(blur.layer_map(), count), exact=True)
    number = Number(f"{count} layer{'s' * (count > 1)}", result.slug)
    about = (number, " that blur alike, from far (dark) to near (light)")
    return [Map("layers.webp", f"Layers of {result.model}", about)]


def _path(subject: Subject, trajectory: Trajectory) -> dict[str, Any]:
    """The camera's path in the image plane, in a square somewhat larger than it, and how far it reaches."""
    centres = trajectory.centres[:, :2]
    middle = (centres.max(axis=0) + centres.min(axis=0)) / 2
    half = max(float(np.ptp(centres, axis=0).max()) * 0.55, 1e-6)
    places = (centres - middle) / half * 50 + 50
    points = [(round(float(x), 2), round(float(y), 2)) for x, y in places]
    return {"points": points, "extent": [short(subject.row[f"extent_{axis}"] * 1e3) for axis in "xyz"]}


def _source(subject: Subject, result: Result | None) -> dict[str, Any]:
    """The whole row that numbers come from, and how to read it: of a result, or that of the sample itself."""
    names = {"dataset": subject.dataset, "id": subject.id} | ({"model": result.model} if result else {})
    where = " and ".join(f"{name} == {value!r}" for name, value in names.items())
    table = TABLES[result.kind] if result else INDEX
    row = result.row if result else subject.row
    return {
        "slug": result.slug if result else "index",
        "label": result.label if result else "this sample",
        "table": table,
        "code": f"pandas.read_parquet({table!r}).query({where!r})",
        "fields": [(name, plain(value)) for name, value in row.items()],
    }


def originals(subject: Subject, datasets: Path) -> dict[str, Path]:
    """The full-size pictures of a sample's page, by their names there."""
    folder = datasets / subject.dataset
    found = {f"{name}.png": folder / place / f"{subject.id}.png" for name, place in _PLACES.items()}
    return found | {f"{result.slug}.png": result.picture for result in subject.results}


_PLACES = {"sharp": "sharp_ref", "blurry": "blurry"}
