"""``icb example``: write a photo with a depth map to try the other commands on."""

import argparse
from pathlib import Path


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser(
        "example",
        help="write a photo with depth to play with",
        description="Write the Middlebury 2014 motorcycle, as it comes with scikit-image: a photo and its depth map.",
    )
    parser.add_argument("folder", metavar="FOLDER", help="where to: motorcycle.png and motorcycle-depth.png (in mm)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write both files and say how to use them."""
    import numpy as np

    from icb.example import FOCAL, load_example
    from icb.pictures import write_image

    photo, depth, _ = load_example()
    folder = Path(options.folder)
    picture, map_of_depth = folder / "motorcycle.png", folder / "motorcycle-depth.png"
    write_image(picture, photo)
    write_image(map_of_depth, np.round(depth * 1000) / 65535, bits=16)
    print(
        f"icb blur {picture} {map_of_depth} --depth-unit 0.001 --focal {FOCAL} --truck 40 -o {folder / 'blurred.png'}"
    )
