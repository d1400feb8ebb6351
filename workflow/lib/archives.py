"""Archives of captures or datasets: fetched, checked and unpacked, whole or not at all."""

import hashlib
import os
import shutil
import stat
import tarfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from datasets import published
from icb import InputError

PIECE = 1 << 20
TIMEOUT = 60


def obtain(source: str, checksum: str, folder: str | os.PathLike[str]) -> None:
    """Unpack an archive, from a URL or a path, into ``folder``, unless that is there: then it is whole."""
    folder = Path(folder)
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    if urllib.parse.urlsplit(source).scheme in ("http", "https", "file"):
        archive, fetched = folder.with_name(f".{folder.name}.part"), True
        fetch(source, archive)
    else:
        archive, fetched = Path(source), False
    try:
        check(archive, checksum, source)
    except InputError:
        if fetched:  # anew next time
            archive.unlink(missing_ok=True)
        raise
    unpacked = folder.with_name(f".{folder.name}.unpacking")
    shutil.rmtree(unpacked, ignore_errors=True)
    try:
        unpack(archive, unpacked)
        os.sync()  # on the disk before it is in place
        content_root(unpacked).rename(folder)
    finally:
        shutil.rmtree(unpacked, ignore_errors=True)
    if fetched:
        archive.unlink()


def fetch(url: str, place: Path) -> None:
    """Download; what an interrupted download left is gone on with, if the server can."""
    begun = place.stat().st_size if place.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={begun}-"} if begun else {})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:  # noqa: S310
            goes_on = begun > 0 and response.status == 206
            total = response.headers.get("Content-Length", "unknown")
            print(f"{url}: {total} bytes{f' after the first {begun}' if goes_on else ''}", flush=True)
            with place.open("ab" if goes_on else "wb") as stream:
                shutil.copyfileobj(response, stream, PIECE)
                got = stream.tell() - (begun if goes_on else 0)
            if total.isdecimal() and got < int(total):
                raise InputError(f"{url}: the connection ended after {got} of {total} bytes; run again to go on")
    except urllib.error.HTTPError as error:
        if error.code == 416 and begun:  # all of it is here already
            return
        raise InputError(f"{url}: cannot be fetched: {error}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{url}: cannot be fetched: {getattr(error, 'reason', error)}") from None


def check(archive: Path, checksum: str, source: str) -> None:
    """Refuse an archive with another checksum."""
    kind, _, wanted = checksum.partition(":")
    digest = hashlib.new(kind, usedforsecurity=False)
    try:
        with archive.open("rb") as stream:
            while piece := stream.read(PIECE):
                digest.update(piece)
    except OSError as error:
        raise InputError(f"{archive}: cannot be read: {error.strerror}") from None
    if digest.hexdigest() != wanted:
        raise InputError(f"{source}: got {kind}:{digest.hexdigest()}, expected {checksum}")


def unpack(archive: Path, folder: Path) -> None:
    """Write the plain files of a zip or tar archive below a folder; links and other places are refused."""
    folder.mkdir(parents=True)
    if zipfile.is_zipfile(archive):
        with _readable(archive), zipfile.ZipFile(archive) as content:
            for info in content.infolist():
                if not info.is_dir():
                    if stat.S_ISLNK(info.external_attr >> 16):
                        raise InputError(f"{archive}: got {info.filename!r}, which is no plain file")
                    with content.open(info) as stream:
                        _write(stream, info.filename, archive, folder)
    elif tarfile.is_tarfile(archive):
        with _readable(archive), tarfile.open(archive) as content:
            for member in content:
                if member.isdir():
                    continue
                plain = content.extractfile(member) if member.isreg() else None
                if plain is None:
                    raise InputError(f"{archive}: got {member.name!r}, which is no plain file")
                _write(plain, member.name, archive, folder)
    else:
        raise InputError(f"{archive}: expected a zip or tar archive")


@contextmanager
def _readable(archive: Path) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # the modules raise what they like on broken archives
        raise InputError(f"{archive}: cannot be unpacked: {error}") from None


def _write(stream: IO[bytes], name: str, archive: Path, folder: Path) -> None:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or ".." in parts or name.startswith(("/", "\\")) or ":" in parts[0]:
        raise InputError(f"{archive}: got the name {name!r}, expected one inside the archive")
    place = folder.joinpath(*parts)
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("wb") as out:
        shutil.copyfileobj(stream, out, PIECE)


def content_root(folder: Path) -> Path:
    """Where the datasets or captures begin: archives often have a folder or two around everything."""
    inner = folder
    while True:
        try:
            published.folders(inner)
            return inner
        except InputError:
            entries = [path for path in inner.iterdir() if not path.name.startswith((".", "__MACOSX"))]
        if len(entries) != 1 or not entries[0].is_dir() or _is_capture(entries[0]):
            return inner
        inner = entries[0]


def _is_capture(path: Path) -> bool:
    from datasets.readers import format_of

    try:
        format_of(path)
    except InputError:
        return False
    return True
