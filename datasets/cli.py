"""The command line: ``python -m datasets build``, ``simulate``, ``inspect`` and ``index``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from icb import InputError
from icb.cli.command import run_command

DESCRIPTION = """\
Raw camera captures in, datasets of blurred photos out.

A capture is a Unity folder, a DepthBundleRecorder folder (iOS with LiDAR) or a frame_bundle.npz. The
datasets have the layout of the published VirtualCMB and RealCMB, and an index.parquet beside them."""

EPILOG = """\
first steps:
  python -m datasets simulate --help                           captures without a camera
  python -m datasets inspect CAPTURE -o sheet.png              what is in a capture
  python -m datasets build CAPTURE... -o data                  samples of all of them
  python -m datasets COMMAND --help                            options and more examples"""

BUILD_EXAMPLES = """\
examples:
  python -m datasets build captures/* -o data
  python -m datasets build bundle-2022-05-01_10-00-00 --window 15 --stride 10 --averaging srgb -o data"""

Commands = argparse._SubParsersAction


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    from datasets.simulate.simulate_command import add_command as add_simulate

    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m datasets", description=DESCRIPTION, epilog=EPILOG, formatter_class=raw)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_build(commands)
    add_simulate(commands)
    _add_inspect(commands)
    _add_index(commands)
    return parser


def _add_build(commands: "Commands[argparse.ArgumentParser]") -> None:
    from datasets.average import MODES

    parser = commands.add_parser(
        "build",
        help="make samples from captures",
        description="Average each capture over its exposure and write samples in the published layout.",
        epilog=BUILD_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("captures", nargs="+", metavar="CAPTURE", help="a folder, or a frame_bundle.npz")
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="folder of the datasets and their index")
    parser.add_argument(
        "--averaging",
        choices=MODES,
        default="plain",
        help="plain averages stored values as the published sets do (default); gamma and srgb average light",
    )
    ios = parser.add_argument_group("iOS recordings")
    ios.add_argument("--window", type=int, metavar="N", help="frames a sample (default: the whole recording)")
    ios.add_argument("--stride", type=int, metavar="N", help="frames from sample to sample (default: the window)")
    ios.add_argument("--size", type=int, nargs=2, metavar=("H", "W"), help="of the samples (default: as the depth)")
    parser.add_argument("--strict", action="store_true", help="stop at a broken capture, instead of leaving it out")
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing but what is wrong")
    parser.set_defaults(run=run_build)


def _add_inspect(commands: "Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "inspect",
        help="say what is in a capture, and draw it",
        description="Say what is in a capture; with -o, draw frames, depth and trajectory on one sheet.",
    )
    parser.add_argument("capture", metavar="CAPTURE", help="a folder, or a frame_bundle.npz")
    parser.add_argument("-o", "--output", metavar="SHEET", help=".png, .pdf or .svg")
    parser.set_defaults(run=run_inspect)


def _add_index(commands: "Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "index",
        help="make the index of datasets that were published without one",
        description="Read all samples of published datasets and write index.parquet beside them.",
    )
    parser.add_argument("root", metavar="ROOT", help="folder with VirtualCMB, RealCMB or both")
    parser.set_defaults(run=run_index)


def run_build(options: argparse.Namespace) -> None:
    """Build, and name each sample when it is there."""
    from tqdm import tqdm

    from datasets.build import Options, build

    size = tuple(options.size) if options.size else None
    chosen = Options(options.averaging, options.window, options.stride, size)
    left_out: list[str] = []

    def leave_out(error: InputError) -> None:
        left_out.append(str(error))
        tqdm.write(f"datasets: left out: {error}", file=sys.stderr)

    strict = options.strict or len(options.captures) == 1
    with tqdm(unit=" frames", desc="building", disable=options.quiet or None) as bar:
        build(
            options.captures,
            options.output,
            chosen,
            report=None if options.quiet else _print_row,
            progress=bar.update,
            failed=None if strict else leave_out,
        )
    if left_out:
        raise InputError(f"{len(left_out)} of {len(options.captures)} captures left out")


def _print_row(row: dict[str, Any]) -> None:
    marks = ", simulated" if row["simulated"] else ""
    filled = f", {row['share_filled']:.1%} of the depth filled" if row["share_filled"] else ""
    from tqdm import tqdm

    tqdm.write(
        f"{row['dataset']}/{row['id']}: {row['width']} x {row['height']}, {row['poses']} poses in "
        f"{row['exposure']:.3g} s, {row['averaging']} averaging{filled}{marks}"
    )


def run_inspect(options: argparse.Namespace) -> None:
    """Describe, and draw if asked to."""
    if options.output and Path(options.output).suffix.lower() not in (".png", ".pdf", ".svg"):
        raise InputError(f"{options.output}: expected a picture as .png, .pdf or .svg")
    from datasets.contact_sheet import describe, draw
    from datasets.readers import open_capture
    from icb import files

    capture = open_capture(options.capture)
    print(describe(capture))
    if options.output:
        figure = draw(capture)
        files.write(options.output, lambda temporary: figure.savefig(temporary, dpi=100))
        print(options.output)


def run_index(options: argparse.Namespace) -> None:
    """Index, unless there is one already."""
    from datasets.index import NAME, index_published, write_index

    path = Path(options.root) / NAME
    if path.exists():
        raise InputError(f"{path}: there is one already, which may know more; remove it first")
    rows = index_published(options.root)
    write_index(rows, path)
    print(f"{path}: {len(rows)} samples")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command of ``python -m datasets``."""
    return run_command("datasets", build_parser, arguments)
