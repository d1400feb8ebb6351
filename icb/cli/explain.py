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
    model = parser.add_argument_group("model")
    model.add_argument("-n", type=float, default=1.0, metavar="PX", help="blur variation between layers (default 1)")
    model.add_argument("--sigma", type=float, default=4.0, metavar="PX", help="softness of the mattes (default 4)")
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help=".png, .pdf or .svg")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Draw and write."""
    from pathlib import Path

    if Path(options.output).suffix.lower() not in (".png", ".pdf", ".svg"):
        raise InputError(f"{options.output}: expected a picture as .png, .pdf or .svg")
    given = scene.load(options)

    from icb import ICB
    from icb.figures import explain

    blur = ICB(given.depth, given.trajectory, given.camera, n=options.n, sigma=options.sigma)
    figure = explain(given.photo, given.depth, blur, given.trajectory, given.camera)
    files.write(options.output, lambda temporary: figure.savefig(temporary, dpi=110))
    print(options.output)
