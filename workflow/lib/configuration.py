"""What the configuration means: the captures it names, and its own documentation."""

import math
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from datasets.build import Options
from datasets.published import real
from datasets.readers import unity
from datasets.readers.unity import case_of
from datasets.simulate.default_set import capture_name, default_set
from icb import InputError
from workflow.lib.selection import matches
from workflow.lib.units import SIMULATED, Unit, list_captures, list_folder, list_published, unique

SCHEMA = Path(__file__).parent.parent / "schemas" / "config.schema.yaml"
CAPTURES = "results/captures"
ARCHIVES = "results/archives"

PARAMETERS: dict[str, dict[str, float]] = {"icb": {"n": 1.0, "sigma": 4.0}, "pwb": {}}
"""What each kind of blur model takes, with the paper's values."""

Config = Mapping[str, Any]


def complete(config: dict[str, Any]) -> None:
    """Fill in what was left out, and refuse what the schema does not know, every mistake by its key."""
    schema = yaml.safe_load(SCHEMA.read_text())
    _remove_unwanted(config)
    _fill(config, schema)
    problems = sorted(Draft202012Validator(schema).iter_errors(config), key=lambda problem: str(problem.json_path))
    if problems:
        named = (f"{problem.json_path.removeprefix('$').strip('.') or 'top level'}: {problem.message}"
                 for problem in problems)  # fmt: skip
        raise InputError("configuration: " + "; ".join(named))


def _remove_unwanted(config: dict[str, Any]) -> None:
    """Take out models and methods that a later file sets to null: files can only add to each other otherwise."""
    restore = config.get("restore")
    for section in (config.get("blur"), restore.get("methods") if isinstance(restore, dict) else None):
        if isinstance(section, dict):
            for name in [name for name, value in section.items() if value is None]:
                del section[name]


def _fill(value: Any, schema: Mapping[str, Any]) -> None:
    """Defaults, at every depth; a value of the wrong type is left for the schema to refuse."""
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for name, part in known.items():
            if name not in value and "default" in part:
                value[name] = deepcopy(part["default"])
        for name, inner in value.items():
            part = known.get(name, schema.get("additionalProperties"))
            if isinstance(part, dict):
                _fill(inner, part)


def simulations(config: Config) -> dict[str, dict[str, Any]]:
    """Captures to simulate by name: the capture's own settings, and those that all of them share."""
    chosen = config["captures"].get("simulate")
    if chosen is None:
        return {}
    captures = default_set(
        scenes=chosen["scenes"],
        cases=chosen["cases"],
        motions=chosen["motions"],
        seeds=chosen["seeds"],
        ios_count=chosen["ios"],
    )
    shared = {
        **{name: tuple(chosen[name]) for name in ("size", "ios_size", "ios_depth_size")},
        **{name: chosen[name] for name in ("poses", "ios_frames")},
        "samples": chosen["samples_per_pixel"],
    }
    return {capture_name(capture): {"capture": asdict(capture), "shared": shared} for capture in captures}


def archives(config: Config) -> dict[str, dict[str, str]]:
    """Archives to unpack, by the folder that each has below :data:`ARCHIVES`."""
    return {archive["checksum"].replace(":", "-")[:20]: dict(archive) for archive in config["captures"]["archives"]}


def unpacked(archive: str) -> Path:
    """The content of an archive: there once it is whole, and known by its checksum, so that it never changes."""
    return Path(ARCHIVES) / archive / "content"


def units(config: Config) -> list[Unit]:
    """Everything there is to work on. Archives must have been unpacked."""
    captures = config["captures"]
    found = [Unit(name, f"{CAPTURES}/{name}", SIMULATED) for name in simulations(config)]
    for folder in captures["folders"]:
        found += list_captures(folder)
    for folder in captures["published"]:
        found += list_published(folder)
    for name in archives(config):
        found += list_folder(unpacked(name))
    return unique(found)


def taken(config: Config, units: list[Unit]) -> dict[str, str]:
    """Published samples whose ids may be among those that a recording is cut into, by key, each with the reason.

    How many frames a recording has is not known before it is looked into.
    """
    build = config["build"]
    if build["window"] is None:
        return {}
    recordings = {unit.name: unit for unit in units if unit.dataset is None}
    step = build["stride"] or build["window"]
    found = {}
    for unit in units:
        name, _, first = unit.name.rpartition("_")
        other = recordings.get(name) if unit.dataset == real.DATASET and _starts_window(first, step) else None
        if other is not None and _may_be_recording(other):
            found[unit.key] = (
                f"{unit.path}: got {unit.name!r}, an id that a sample cut from {other.path} may have, "
                "expected every id once"
            )
    return found


def _starts_window(first: str, step: int) -> bool:
    """Whether the end of an id is the first frame of a window, as the builder writes it: without zeros before it."""
    return first.isdecimal() and first == str(int(first)) and int(first) % step == 0


def _may_be_recording(unit: Unit) -> bool:
    """Whether a capture, that need not have been rendered yet, is no Unity capture, which is never cut."""
    if unit.origin == SIMULATED:
        return case_of(unit.name) is None
    try:
        return not unity.recognises(Path(unit.path))
    except OSError:
        return False  # left out when it is looked into, and so not cut either


def build_options(config: Config) -> Options:
    """How samples are built."""
    build = config["build"]
    size = build["size"]
    return Options(build["averaging"], build["window"], build["stride"], (size[0], size[1]) if size else None)


def state_of(path: str | None) -> list[int] | None:
    """Changes when a file that the configuration names does."""
    if path is None or not Path(path).exists():
        return None
    status = Path(path).stat()
    return [status.st_size, status.st_mtime_ns]


def restoration_settings(method: Config) -> dict[str, Any]:
    """What :class:`icb.restoration.Settings` takes of a method's section."""
    settings = {name: value for name, value in method.items() if name != "blur"}
    settings["patch"] = settings["patch"] and tuple(settings["patch"])
    return settings


def blur_models(config: Config) -> dict[str, dict[str, Any]]:
    """Blur models by name, each with all parameters of its kind, so that what is equal has one key in the store."""
    models = {}
    for name, given in config["blur"].items():
        model = {**PARAMETERS[given["model"]], **given}
        for key, value in model.items():
            if key not in ("model", *PARAMETERS[given["model"]]):
                raise InputError(f"configuration: blur.{name}.{key}: {given['model']} has no such parameter")
            if key != "model" and not math.isfinite(value):
                raise InputError(f"configuration: blur.{name}.{key}: got {value}, expected a finite number")
        models[name] = {key: value if key == "model" else float(value) for key, value in model.items()}
    return models


def check_methods(config: Config) -> None:
    """Every method of restoration needs a blur model that there is."""
    for name, method in config["restore"]["methods"].items():
        if method["blur"] not in config["blur"]:
            raise InputError(
                f"restore.methods.{name}.blur: got {method['blur']!r}, expected one of {', '.join(config['blur'])}"
            )


def to_restore(config: Config, units: list[Unit]) -> list[Unit]:
    """The units whose samples are restored."""
    patterns = config["restore"]["samples"]
    return [unit for unit in units if matches(unit.name, patterns)]


def variants(config: Config) -> dict[str, dict[str, Any]]:
    """The blur models of the ablation by name; a dot in it keeps it apart from the names in the section `blur`."""
    for key in ("sigma", "n"):
        for value in config["ablation"][key]:
            if not math.isfinite(value):
                raise InputError(f"configuration: ablation.{key}: got {value}, expected finite numbers")
    return {
        f"ICB.s{_digits(sigma)}.n{_digits(n)}": {"model": "icb", "n": float(n), "sigma": float(sigma)}
        for sigma, n in product(config["ablation"]["sigma"], config["ablation"]["n"])
    }


def _digits(value: float) -> str:
    """A number in as many digits as tell it from all others."""
    return repr(float(value)).removesuffix(".0")


def to_ablate(config: Config, units: list[Unit]) -> list[Unit]:
    """The units of the ablation: of each case as many, as far apart in the order of names as can be."""
    wanted, cases = config["ablation"]["samples"], config["ablation"]["cases"]
    by_case = {case: [unit for unit in units if _case(unit) == case] for case in cases}
    if not isinstance(wanted, int):
        of_cases = [unit for case in cases for unit in by_case[case]]
        return [unit for unit in of_cases if matches(unit.name, wanted)]
    chosen: list[Unit] = []
    # The smallest case first: what it cannot give, others may.
    for place_of_case, found in enumerate(sorted(by_case.values(), key=len)):
        share = -(-(wanted - len(chosen)) // (len(cases) - place_of_case))
        count = min(len(found), share)
        chosen += [found[place * len(found) // count] for place in range(count)]
    return chosen


def _case(unit: Unit) -> str | None:
    return None if unit.dataset not in (None, "VirtualCMB") else case_of(unit.name)


def readme() -> str:
    """The documentation of all keys, from the schema."""
    schema = yaml.safe_load(SCHEMA.read_text())
    lines = [
        "# Configuration",
        "",
        "`config.yaml` is the embedded default and `paper.yaml` the full reproduction, which is laid over it:",
        "`snakemake --configfile config/paper.yaml`. So are `recordings.yaml`, fits with the paper's settings of",
        "simulated recordings, a file of your own, and single keys: `snakemake --config samples_per_job=8`.",
        "",
        "Sections are laid over each other key by key; lists and single values are replaced. So a file that names",
        "another model has it beside `ICB` and `PWB`. `null` for a model or method takes it away:",
        "`blur: {PWB: null}` and `restore: {methods: {PWB: null}}`.",
        "",
        " ".join(schema["description"].split()),
        "",
        "This page is made from `workflow/schemas/config.schema.yaml` by `make format`.",
        "",
        "| key | what | type | default |",
        "|---|---|---|---|",
        *(f"| `{key}` | {what} | {kind} | {default} |" for key, what, kind, default in _rows(schema, "")),
    ]
    return "\n".join(lines) + "\n"


def _rows(schema: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str, str, str]]:
    for name, part in schema.get("properties", {}).items():
        key = f"{prefix}{name}"
        default = "" if "default" not in part or part["default"] == {} else f"`{_plain(part['default'])}`"
        yield key, " ".join(part["description"].split()), _kind(part), default
        yield from _rows(part, f"{key}.")
        if isinstance(part.get("additionalProperties"), dict):
            yield from _rows(part["additionalProperties"], f"{key}.<name>.")
        if "properties" in part.get("items", {}):
            yield from _rows(part["items"], f"{key}[].")


def _kind(part: Mapping[str, Any]) -> str:
    if "enum" in part:
        return " or ".join(f"`{value}`" for value in part["enum"])
    kinds: list[str] = part["type"] if isinstance(part["type"], list) else [part["type"]]
    words = {"object": "section", "array": "list", "null": "`null`", "boolean": "true or false", "string": "text"}
    text: str = " or ".join(words.get(kind, kind) for kind in kinds)
    for bound, sign in (("minimum", "≥"), ("maximum", "≤"), ("exclusiveMinimum", ">"), ("exclusiveMaximum", "<")):
        if bound in part:
            text += f" {sign} {part[bound]}"
    return text


def _plain(value: Any) -> str:
    text: str = yaml.safe_dump(value, default_flow_style=True, width=1000).strip()
    return text.removesuffix("...").strip()


if __name__ == "__main__":
    print(readme(), end="")
