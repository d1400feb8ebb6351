"""The store, shards and names: what keeps results apart."""

import multiprocessing
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from icb import InputError
from workflow.lib.shards import Shards, label
from workflow.lib.store import Store
from workflow.lib.units import Unit, digest, fingerprint, printable, printable_name

KEY = "ab" + 62 * "0"

# --- The store ---


def fill(folder: Path) -> dict[str, object]:
    (folder / "inner").mkdir()
    (folder / "inner" / "file").write_text("content")
    return {"answer": 42}


def test_an_entry_is_made_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = store.obtain("kind", KEY, fill)
    assert first.made and first.record == {"answer": 42}
    assert (first.path / "inner" / "file").read_text() == "content"

    def never(folder: Path) -> dict[str, object]:
        raise AssertionError

    again = store.obtain("kind", KEY, never)
    assert (again.made, again.path, again.record) == (False, first.path, first.record)
    assert list(store.entries()) == [("kind", KEY)]


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def fail(folder: Path) -> dict[str, object]:
        fill(folder)
        raise InputError("a capture is broken")

    with pytest.raises(InputError, match="a capture is broken"):
        store.obtain("kind", KEY, fail)
    assert not [path for path in tmp_path.rglob("*") if path.name != "kind" and path.name != "ab"]
    assert store.obtain("kind", KEY, fill).made


def test_a_full_disk_is_not_the_input_s_fault(tmp_path: Path) -> None:
    def full(folder: Path) -> dict[str, object]:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left on device"):
        Store(tmp_path).obtain("kind", KEY, full)


def slowly(store: str, calls: str, marker: str) -> None:
    """In a process of its own: an entry that takes a while, and leaves a trace each time it is made."""

    def make(folder: Path) -> dict[str, object]:
        with Path(calls).open("a") as stream:
            stream.write("made\n")
        (folder / "half").write_text("not whole")
        Path(marker).touch()
        time.sleep(0.3)
        return fill(folder)

    Store(store).obtain("kind", KEY, make)


@pytest.fixture
def spawn(tmp_path: Path) -> Iterator[Callable[[], multiprocessing.Process]]:
    """Starts processes that want the same entry."""
    context = multiprocessing.get_context("fork")
    started = []

    def start() -> multiprocessing.Process:
        paths = [str(tmp_path / name) for name in ("store", "calls", "marker")]
        process = context.Process(target=slowly, args=paths)
        process.start()
        started.append(process)
        return process  # type: ignore[return-value]

    yield start
    for process in started:
        process.kill()
        process.join()


def test_many_want_the_same_entry_and_one_makes_it(
    spawn: Callable[[], multiprocessing.Process], tmp_path: Path
) -> None:
    processes = [spawn() for _ in range(6)]
    for process in processes:
        process.join(30)
        assert process.exitcode == 0
    assert (tmp_path / "calls").read_text() == "made\n"
    assert sorted(path.name for path in (tmp_path / "store" / "kind" / "ab").iterdir()) == [KEY]


def test_a_maker_is_killed_and_one_who_waits_takes_over(
    spawn: Callable[[], multiprocessing.Process], tmp_path: Path
) -> None:
    first = spawn()
    while not (tmp_path / "marker").exists():
        time.sleep(0.001)
    others = [spawn(), spawn()]
    time.sleep(0.05)
    assert first.pid is not None
    os.kill(first.pid, signal.SIGKILL)
    place = Store(tmp_path / "store").path("kind", KEY)
    for process in others:
        process.join(30)
        assert process.exitcode == 0
    assert (tmp_path / "calls").read_text() == "made\nmade\n"
    assert sorted(path.name for path in place.iterdir()) == ["half", "inner", "record.json"]
    assert [path.name for path in place.parent.iterdir()] == [KEY]  # nothing of who was killed, and no lock


def test_the_lock_of_a_maker_that_was_killed_when_all_was_made_is_removed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    place = store.obtain("blur", KEY, fill).path
    place.with_name(f".{KEY}.lock").touch()
    assert not store.obtain("blur", KEY, fill).made
    assert [path.name for path in place.parent.iterdir()] == [KEY]


def test_pruning_keeps_what_it_is_told(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keys = [f"{number:02d}{62 * '0'}" for number in range(4)]
    for key in keys:
        store.obtain("kind", key, fill)
    (tmp_path / "kind" / "00" / ".left.making").mkdir()
    assert store.prune({("kind", keys[1]), ("kind", keys[2])}) == 2
    assert [key for _, key in store.entries()] == keys[1:3]
    assert not list(tmp_path.rglob(".*"))


# --- Shards ---


def unit(name: str) -> Unit:
    return Unit(name, f"raw/{name}", "captured")


def groups(shards: Shards) -> dict[str, str]:
    return {member.name: group for group, members in shards.groups.items() for member in members}


def test_adding_or_removing_a_capture_moves_no_other() -> None:
    units = [unit(f"capture {number}") for number in range(100)]
    before = groups(Shards(units, 8))
    assert 8 <= len(set(before.values())) <= 25
    for changed in (units[:-1], units[1:], [*units, unit("another")], units[::-1]):
        after = groups(Shards(changed, 8))
        assert all(after[name] == group for name, group in before.items() if name in after)


def test_shards_are_about_as_large_as_asked_for() -> None:
    units = [unit(f"capture {number}") for number in range(1000)]
    for size in (1, 4, 16, 64, 2000):
        shards = Shards(units, size)
        counts = [len(shards.members(name)) for name in shards.names]
        assert sum(counts) == 1000
        assert size / 2 <= 1000 / len(counts) <= 2 * size or len(counts) == 1
        assert size > 1 or set(counts) == {1}
    with pytest.raises(InputError, match="shard size: got 0"):
        Shards(units, 0)


def test_labels_are_safe_and_all_different() -> None:
    odd = ["a b", "a_b", "a/b", "<script>", "Bär", "B\udcffr", "x" * 250, "x" * 251, "-n", "{wild}"]
    labels = [label(unit(name)) for name in odd]
    assert len(set(labels)) == len(odd)
    for name in labels:
        assert len(name) < 100 and all(c.isascii() and (c.isalnum() or c in "_.-") for c in name)
    twins = [Unit("same", "a", "published", "RealCMB"), Unit("same", "b", "published", "VirtualCMB")]
    assert len({label(twin) for twin in twins}) == 2


def test_a_fingerprint_changes_with_every_file(tmp_path: Path) -> None:
    capture = Unit("one", str(tmp_path / "one"), "captured")
    (tmp_path / "one" / "frames").mkdir(parents=True)
    frame = tmp_path / "one" / "frames" / "0.png"
    frame.write_bytes(b"content")
    (tmp_path / "one" / "frames" / "round").symlink_to("..")
    (tmp_path / "one" / "dangling").symlink_to("nowhere")
    seen = [fingerprint(capture)]
    assert fingerprint(capture) == seen[0]
    os.utime(frame, ns=(0, frame.stat().st_mtime_ns + 1))
    seen.append(fingerprint(capture))
    (tmp_path / "one" / os.fsdecode(b"\xff")).write_bytes(b"")
    seen.append(fingerprint(capture))
    frame.rename(frame.with_name("1.png"))
    seen.append(fingerprint(capture))
    shutil.rmtree(tmp_path / "one")
    seen.append(fingerprint(capture))
    assert len(set(seen)) == len(seen)


def test_what_is_printable_stays_and_all_else_is_escaped() -> None:
    assert printable("Bär 1, größer: <b>") == "Bär 1, größer: <b>"
    assert printable("a\nb\x1b[31m\udcff\u202e") == "a\\nb\\x1b[31m\\udcff\\u202e"
    printable("\udcff").encode()
    assert printable_name("a\nb") != printable_name("a\\nb")  # a new line, and a backslash and an n
    assert digest({"b": 1, "a": [2]}) == digest({"a": [2], "b": 1}) != digest({"a": [2], "b": 2})
