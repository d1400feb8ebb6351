"""Shards: many samples in one job, so that start-up and imports are paid once."""

import hashlib
import re
from collections.abc import Sequence

from icb import InputError
from workflow.lib.units import Unit


class Shards:
    """Units in groups of about ``size``.

    Who shares a group follows from the units' names, never from their order: adding or removing one leaves
    all others where they are, unless the number of groups, a power of two, changes with it.
    """

    def __init__(self, units: Sequence[Unit], size: int) -> None:
        if size < 1:
            raise InputError(f"shard size: got {size}, expected at least 1")
        self._alone = {label(unit): unit for unit in units}
        self.groups: dict[str, list[Unit]] = {}
        self._group: dict[str, str] = {}
        count = 1
        while count * size * 1.5 < len(units):
            count *= 2
        for unit in units:
            name = label(unit) if size == 1 else f"{_number(unit) % count + 1:0{len(str(count))}d}-of-{count}"
            self.groups.setdefault(name, []).append(unit)
            self._group[unit.key] = name

    @property
    def labels(self) -> set[str]:
        """Of the single units."""
        return set(self._alone)

    @property
    def names(self) -> list[str]:
        """Of the groups that have members."""
        return sorted(self.groups)

    def members(self, name: str) -> list[Unit]:
        """The units of a group; the label of a single unit is a group as well."""
        if name in self.groups:
            return self.groups[name]
        if name in self._alone:
            return [self._alone[name]]
        raise InputError(f"shard: got {name!r}, expected one of {', '.join(self.names) or 'none'}")

    def holding(self, units: Sequence[Unit]) -> list[str]:
        """The groups in which some units are."""
        return sorted({self._group[unit.key] for unit in units})


def label(unit: Unit) -> str:
    """A name for a unit that is safe in paths and patterns, and still tells people which it is."""
    return safe_name(unit.name, _bytes(unit))


def safe_name(name: str, key: bytes) -> str:
    """As much of a name as is safe in paths, patterns and addresses, with a hash of what tells it from all others."""
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '_', name)[:60]}.{hashlib.sha256(key).hexdigest()[:8]}"


def _number(unit: Unit) -> int:
    return int.from_bytes(hashlib.sha256(_bytes(unit)).digest()[:8], "little")


def _bytes(unit: Unit) -> bytes:
    return unit.key.encode("utf-8", "surrogateescape")
