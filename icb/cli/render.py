"""``icb render``: draw the network of a restored photo at any size."""

import argparse

EXAMPLES = """\
examples:
  icb render sharp.safetensors -o sharp.png
      the photo at its own size
  icb render sharp.safetensors --scale 2.5 -o large.png
  icb render sharp.safetensors --crop 10 20 16 24 --size 160 240 -o detail.png
      16 rows and 24 columns from row 10 and column 20 on, ten times as large"""


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser(
        "render",
        help="draw a restored photo at any size, from its network",
        description="Draw the network that icb deblur --save-network kept, at any resolution, all of it or a part.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("network", metavar="NETWORK", help="a network, or the checkpoint of a fit: .safetensors")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--scale", type=float, metavar="S", help="so many times as large (default 1)")
    size.add_argument("--size", type=int, nargs=2, metavar=("H", "W"), help="pixels of the result")
    parser.add_argument(
        "--crop", type=float, nargs=4, metavar=("TOP", "LEFT", "H", "W"), help="a part, in pixels of the photo"
    )
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help=".png, .jpg, .tif or .npy (float)")
    parser.add_argument("--bits", type=int, choices=(8, 16), default=8, help="per channel, for .png and .tif")
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Render and write."""
    from icb.pictures import check_picture, write_image

    check_picture(options.output, options.bits)

    from icb.restoration import load_network

    network = load_network(options.network)
    picture = network.render(
        None if options.size is None else tuple(options.size),
        None if options.crop is None else tuple(options.crop),
        1.0 if options.scale is None else options.scale,
    )
    write_image(options.output, picture, bits=options.bits)
    if not options.quiet:
        print(f"{options.output}: {picture.shape[0]} x {picture.shape[1]} pixels")
