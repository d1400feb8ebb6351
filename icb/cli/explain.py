"""``icb explain``: one picture of what ICB does with a photo."""

import argparse

from icb import files
from icb.cli import scene
from icb.errors import InputError

EXAMPLES = """\
examples:
  icb explain photo.jpg depth.npy --truck 40 -o explained.png
  icb explain photo.jpg depth.png --depth-unit 0.001 --shake 3 -n 2 -o explained.pdf"""


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser(
        "explain",
        help="draw trajectory, depth sequence, layers, kernels and mattes",
        description="Draw one picture of how ICB blurs a photo: trajectory, depth sequence, layers, kernels, mattes.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    scene.add_arguments(parser)
    scene.add_icb_arguments(parser.add_argument_group("model"))
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help=".png, .pdf or .svg")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Draw and write."""
    from pathlib import Path

    if Path(options.output).suffix.lower() not in (".png", ".pdf", ".svg"):
        raise InputError(f"{options.output}: expected a picture as .png, .pdf or .svg")
    given = scene.load(options)

    from icb.figures import explain

    blur = scene.build_icb(options, given)
    figure = explain(given.photo, given.depth, blur, given.trajectory, given.camera)
    files.write(options.output, lambda temporary: figure.savefig(temporary, dpi=110))
    print(options.output)
