"""``icb deblur``: make a blurry photo sharp."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icb import files
from icb.cli import scene
from icb.errors import InputError

if TYPE_CHECKING:
    from icb.restoration import Network

EXAMPLES = """\
examples:
  icb deblur blurry.png depth.npy --trajectory poses.json --fov 65 -o sharp.png
      a photo, its depth map and the poses of the camera while the shutter was open
  icb deblur blurry.png depth.npy --trajectory poses.json --epochs 60 --preview look.png --every 5 -o sharp.png
      a quick look: fewer epochs, and a picture to watch
  icb deblur blurry.png depth.npy --trajectory poses.json --model pwb --checkpoint fit.safetensors \\
      --save-network sharp.safetensors -o sharp.png
      the pixel-wise baseline, going on after an interruption; keep the network for icb render"""


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser(
        "deblur",
        help="make a blurry photo sharp",
        description="Fit a network whose blur is the photo, and write what it draws. This takes minutes.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    scene.add_arguments(parser)
    scene.add_model_arguments(parser)
    fit = parser.add_argument_group("fit (defaults as in the paper)")
    fit.add_argument("--network", choices=("siren", "fourier"), default="siren", help="sines (default), or features")
    fit.add_argument("--width", type=int, metavar="N", help="units of a layer (default: siren 192, fourier 448)")
    fit.add_argument(
        "--gradient",
        choices=("analytic", "finite-difference"),
        default="analytic",
        help="how the penalty's gradient is taken; finite differences cost half as much",
    )
    fit.add_argument("--penalty", type=float, metavar="L", help="weight of the gradient's size (default 8e-6)")
    fit.add_argument("--epochs", type=int, metavar="N", help="times that every patch is visited (default 400)")
    fit.add_argument("--learning-rate", type=float, metavar="R", help="at the beginning (default 5e-4)")
    fit.add_argument(
        "--patch", type=int, nargs=2, metavar=("H", "W"), help="largest patch (default 144 256, at least two each way)"
    )
    fit.add_argument("--network-seed", type=int, metavar="N", help="another seed, another start (default 0)")
    fit.add_argument("--checkpoint", metavar="FILE", help="go on from this file if it is there, and keep it up to date")
    fit.add_argument("--device", metavar="D", help="cpu, cuda, cuda:1, ... (default: a GPU if torch has one)")
    fit.add_argument("--threads", type=int, metavar="N", help="for the fit (default: all cores)")
    output = parser.add_argument_group("output")
    output.add_argument("-o", "--output", required=True, metavar="OUT", help=".png, .jpg, .tif or .npy (float)")
    output.add_argument("--bits", type=int, choices=(8, 16), default=8, help="per channel, for .png and .tif")
    output.add_argument("--save-network", metavar="NET", help="keep the network for icb render: .safetensors")
    output.add_argument("--preview", metavar="FILE", help="write what there is so far every so often")
    output.add_argument("--every", type=int, metavar="N", help="preview: epochs from one to the next (default 20)")
    output.add_argument("-q", "--quiet", action="store_true", help="say nothing, show no progress")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Fit and write."""
    from icb.pictures import check_picture, write_image

    if options.preview is None:
        scene.require_only(options, ("every",), "--preview")
    if options.every is not None and options.every < 1:
        raise InputError(f"--every: got {options.every}, expected at least 1")
    # Before the fit, not after it.
    for path, bits in ((options.output, options.bits), (options.preview, 8)):
        if path is not None:
            check_picture(path, bits)
    _check_places(options)
    given, blur, kind = scene.build_model(options)

    from tqdm import tqdm

    from icb.restoration import Settings, restore

    settings = Settings(**_chosen(options))
    with tqdm(total=settings.epochs, unit=" epochs", desc="deblurring", disable=options.quiet or None) as bar:
        restored = restore(
            given.photo,
            blur,
            settings,
            name=options.photo,
            checkpoint=options.checkpoint,
            device=options.device,
            threads=options.threads,
            on_epoch=_watch(options, bar),
        )
        _begin_at(bar, len(restored.history))  # nothing was left to do, if it is not there already
    write_image(options.output, restored.image, bits=options.bits)
    if options.save_network:
        restored.network.save(options.save_network)
    if not options.quiet:
        reached = f"a mean PSNR of {restored.history.psnr[-1]:.2f} dB during the last epoch"
        print(f"{options.output}: {kind}, blurred to the photo with {reached}")


def _chosen(options: argparse.Namespace) -> dict[str, Any]:
    """The settings that were given."""
    names = ("network", "width", "gradient", "penalty", "epochs", "learning_rate", "patch")
    given = {name: getattr(options, name) for name in names} | {"seed": options.network_seed}
    return {name: value for name, value in given.items() if value is not None}


def _check_places(options: argparse.Namespace) -> None:
    """Everything that will be written can be, and to a place of its own, where nothing lies that is read."""
    given = {"-o": options.output, "--save-network": options.save_network}
    given |= {"--checkpoint": options.checkpoint, "--preview": options.preview}
    read = {"--trajectory": options.trajectory, "DEPTH": options.depth, "PHOTO": options.photo}
    taken = {Path(path).resolve(): name for name, path in read.items() if path is not None}
    for flag, path in given.items():
        if path is not None:
            files.check_place(path)
            other = taken.setdefault(Path(path).resolve(), flag)
            if other != flag:
                raise InputError(f"{flag}: got {path}, expected another file than that of {other}")


def _watch(options: argparse.Namespace, bar: Any) -> Callable[[dict[str, float], "Network"], None]:
    """Move the bar, and write the preview when it is due."""
    from icb.pictures import write_image

    every = 20 if options.every is None else options.every

    def watch(row: dict[str, float], network: "Network") -> None:
        epoch = int(row["epoch"])
        if not bar.n:
            _begin_at(bar, epoch - 1)
        bar.set_postfix(loss=f"{row['loss']:.2e}", PSNR=f"{row['psnr']:.2f} dB", refresh=False)
        bar.update()
        if options.preview is not None and epoch % every == 0:
            try:
                write_image(options.preview, network.render())
            except InputError as error:  # the fit is worth more than its preview
                bar.write(f"icb: no preview of epoch {epoch}: {error}", file=sys.stderr)

    return watch


def _begin_at(bar: Any, epochs: int) -> None:
    """Let the bar stand at epochs that an earlier run has done: they count, but not for the speed."""
    if bar.n != epochs:
        bar.initial = bar.n = bar.last_print_n = epochs
        bar.refresh()
