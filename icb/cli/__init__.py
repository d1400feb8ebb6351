"""The command line: ``icb blur``, ``icb explain``, ``icb example``."""

import argparse
import os
import sys
from collections.abc import Sequence

from icb.cli import blur, example, explain
from icb.errors import InputError
from icb.version import __version__

DESCRIPTION = """\
Camera motion blur that knows about depth.

Moving a camera while the shutter is open blurs near things more than far ones. Give a photo, its
depth map and a camera motion, and see it."""

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
    for module in (blur, explain, example):
        module.add_command(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; mistakes end in one line on standard error and exit code 2."""
    try:
        try:
            options = build_parser().parse_args(arguments)
            options.run(options)
        finally:
            sys.stdout.flush()  # here, where a failure can be caught
    except InputError as error:
        print(f"icb: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        # Keep the interpreter from trying, and complaining, again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # whoever read the output has gone
            return 141
        print(f"icb: {error.filename or 'standard output'}: {error.strerror}", file=sys.stderr)
        return 2
    return 0
