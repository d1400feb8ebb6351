"""``python -m datasets simulate``: render raw captures of procedural scenes."""

import argparse
from pathlib import Path

from tqdm import tqdm

EXAMPLES = """\
examples:
  python -m datasets simulate -o results/raw
      the default set: every case and motion class, and three iOS recordings, small and quick
  python -m datasets simulate -o raw --scene Village --case Macro --motion parallax --seed 3 --ios 0
      one capture
  python -m datasets simulate -o raw --size 720 1280 --poses 65 --samples-per-pixel 9 --seed 0 1 2 --jobs 2
      full size, three views of each kind"""


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser(
        "simulate",
        help="render raw captures of procedural scenes",
        description="Render raw captures (Unity and DepthBundleRecorder folders) of procedural scenes. "
        "Each carries simulated.json. The same options give the same bytes.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="where the captures are put")
    what = parser.add_argument_group("what")
    what.add_argument("--scene", nargs="+", metavar="NAME", help="scenes (default: they take turns)")
    what.add_argument("--case", nargs="+", metavar="NAME", help="Macro, Trucking, Standard (default: all)")
    what.add_argument("--motion", nargs="+", metavar="NAME", help="parallax, xy-rotation, 6-DoF (default: all)")
    what.add_argument("--seed", nargs="+", type=int, default=[0], metavar="N", help="views and motions (default 0)")
    what.add_argument("--ios", type=int, default=3, metavar="N", help="iOS recordings (default 3)")
    how = parser.add_argument_group("how")
    how.add_argument("--size", nargs=2, type=int, default=[180, 320], metavar=("H", "W"), help="default 180 320")
    how.add_argument("--poses", type=int, default=33, metavar="N", help="frames of a Unity capture (default 33)")
    how.add_argument("--ios-size", nargs=2, type=int, default=[384, 512], metavar=("H", "W"),
                     help="landscape frames of iOS (default 384 512; the app has 1440 1920)")  # fmt: skip
    how.add_argument("--ios-depth-size", nargs=2, type=int, default=[192, 256], metavar=("H", "W"),
                     help="landscape LiDAR depth (default 192 256)")  # fmt: skip
    how.add_argument("--ios-frames", type=int, default=31, metavar="N", help="frames of a recording (default 31)")
    how.add_argument("--samples-per-pixel", type=int, default=4, metavar="N", help="rays (default 4)")
    how.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default 1, which uses all cores)")
    how.add_argument("-q", "--quiet", action="store_true", help="say nothing")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Simulate and write."""
    from datasets.simulate.default_set import IOS, default_set, simulate_set
    from icb.errors import InputError

    if options.ios < 0:
        raise InputError(f"--ios: got {options.ios}, expected at least 0")
    captures = default_set(
        scenes=options.scene, cases=options.case, motions=options.motion, seeds=options.seed, ios_count=options.ios
    )
    total = sum(options.ios_frames if capture.case == IOS else options.poses for capture in captures)
    with tqdm(total=total, unit=" frames", desc="simulating", disable=options.quiet or None) as bar:
        paths = simulate_set(
            options.output,
            captures,
            size=tuple(options.size),
            poses=options.poses,
            ios_size=tuple(options.ios_size),
            ios_depth_size=tuple(options.ios_depth_size),
            ios_frames=options.ios_frames,
            samples=options.samples_per_pixel,
            jobs=options.jobs,
            progress=bar.update,
        )
    if not options.quiet:
        print(f"{Path(options.output)}: {len(paths)} simulated captures, {total} frames")
