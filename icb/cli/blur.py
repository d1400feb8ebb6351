"""``icb blur``: blur a photo that has a depth map."""

import argparse

from icb.cli import scene

EXAMPLES = """\
examples:
  icb blur photo.jpg depth.npy --truck 40 -o blurred.png
      a camera that slides 40 mm to the right while the shutter is open
  icb blur photo.jpg depth.png --depth-unit 0.001 --shake 3 --rotation 0.2 --seed 7 -o blurred.png
      hand shake of 3 mm and 0.2 degrees; depth as 16-bit PNG in millimetres
  icb blur photo.jpg depth.exr --depth-key Z --trajectory poses.json --focal 1400 --model pwb -o blurred.png
      your own poses, and the pixel-wise baseline"""


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser(
        "blur",
        help="blur a photo that has a depth map",
        description="Blur a photo as a moving camera would have.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    scene.add_arguments(parser)
    scene.add_model_arguments(parser)
    output = parser.add_argument_group("output")
    output.add_argument("-o", "--output", required=True, metavar="OUT", help=".png, .jpg, .tif or .npy (float)")
    output.add_argument("--bits", type=int, choices=(8, 16), default=8, help="per channel, for .png and .tif")
    output.add_argument("--save-trajectory", metavar="FILE", help="keep the poses used: .npz or .json")
    output.add_argument("-q", "--quiet", action="store_true", help="say nothing")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Blur and write."""
    from icb.pictures import write_image

    given, blur, kind = scene.build_model(options)
    write_image(options.output, blur(given.photo), bits=options.bits)
    if options.save_trajectory:
        given.trajectory.save(options.save_trajectory)
    if not options.quiet:
        down, right = blur.radius
        print(f"{options.output}: {kind}, up to {right} pixels sideways and {down} up or down")
