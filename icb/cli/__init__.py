"""The command line: ``icb blur``, ``icb deblur``, ``icb render``, ``icb explain``, ``icb example``."""

import argparse
from collections.abc import Sequence

from icb.cli import blur, deblur, example, explain, render
from icb.cli.command import run_command
from icb.version import __version__

DESCRIPTION = """\
Camera motion blur that knows about depth.

Moving a camera while the shutter is open blurs near things more than far ones. Give a photo, its
depth map and a camera motion, and see it; or give a blurry photo, and see it sharp."""

EPILOG = """\
first steps:
  icb example pictures                                  a photo with depth to play with
  icb blur pictures/motorcycle.png pictures/motorcycle-depth.png --depth-unit 0.001 \\
      --focal 994.978 --truck 40 -o blurred.png
  icb COMMAND --help                                    options and more examples"""


def build_parser() -> argparse.ArgumentParser:
    """The whole command line; each command lives in its module."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("icb", description=DESCRIPTION, epilog=EPILOG, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"icb {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in (blur, deblur, render, explain, example):
        module.add_command(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command of ``icb``."""
    return run_command("icb", build_parser, arguments)
