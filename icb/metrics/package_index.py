"""A file of a package, fetched from where pip would look, without running anything of it.

``pip download`` builds what it downloads in order to read its metadata, which runs the package's own code. Here the
file is only found, read and compared with its known SHA-256.
"""

import ast
import base64
import hashlib
import importlib
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from html.parser import HTMLParser
from http.client import HTTPException
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit, urlunsplit

from icb.errors import InputError

TIMEOUT = 15.0
"""Seconds without an answer."""

MAX_PAGE, MAX_FILE = 1 << 24, 1 << 27
PAGE = "application/vnd.pypi.simple.v1+html, text/html;q=0.2, */*;q=0.1"


def fetch(project: str, version: str, sha256: str) -> bytes:
    """The source archive of a version of a project, whatever its content: it has the given SHA-256."""
    pattern = re.compile(re.sub(r"[-_.]+", "[-_.]+", project) + re.escape(f"-{version}.tar.gz"), re.IGNORECASE)
    settings, failures = pip_settings(), []
    for page in _pages(settings, project):
        try:
            for link in _links(page, settings):
                if pattern.fullmatch(_name(link)):
                    data = read_url(link, MAX_FILE, settings)
                    if hashlib.sha256(data).hexdigest() == sha256:
                        return data
                    failures.append(f"{_shown(link)}: does not have the SHA-256 that is expected")
        except (OSError, ValueError, HTTPException) as error:
            failures.append(f"{_shown(page)}: {_reason(error)}")
    raise InputError("; ".join(failures) or f"no index or folder that pip looks at has {project} {version}")


def pip_settings() -> dict[str, str]:
    """Settings of pip by name, from its files and the environment, as it reports them itself."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(f"pip is not at hand: {(done.stderr.strip() or 'it failed').splitlines()[-1]}")
    found: dict[str, dict[str, str]] = {}
    for line in done.stdout.splitlines():
        match = re.fullmatch(r"(:env:|global|download)\.([a-z-]+)=(.*)", line)
        if match:
            found.setdefault(match[1], {})[match[2]] = str(ast.literal_eval(match[3]))
    # The same order as pip's: the environment over its files, what is for one command over what is for all.
    return {**found.get("global", {}), **found.get("download", {}), **found.get(":env:", {})}


def read_url(url: str, limit: int, settings: dict[str, str] | None = None) -> bytes:
    """The content at an address, by pip's proxy and certificates; ``user:password@`` in it is heeded."""
    settings = settings or {}
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https", "file"):
        raise InputError(f"got an address of kind {parts.scheme!r}, expected http, https or file")
    request = urllib.request.Request(_shown(url), headers={"Accept": PAGE})  # noqa: S310 (checked above)
    if parts.username:
        secret = base64.b64encode(f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode())
        request.add_unredirected_header("Authorization", f"Basic {secret.decode()}")  # to nobody else
    cert, proxy = settings.get("cert"), settings.get("proxy")
    handlers: list[urllib.request.BaseHandler] = []
    if cert:
        handlers.append(urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=cert)))
    if proxy:
        handlers.append(urllib.request.ProxyHandler({"http": proxy, "https": proxy}))
    with urllib.request.build_opener(*handlers).open(request, timeout=TIMEOUT) as answer:
        data: bytes = answer.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"got more than {limit} bytes, expected fewer")
    return data


def _pages(settings: dict[str, str], project: str) -> Iterator[str]:
    """Addresses of pages, or folders, that may link to the project's files."""
    yield from (_address(place) for place in settings.get("find-links", "").split())
    if settings.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        return
    indexes = [settings.get("index-url") or _default_index(), *settings.get("extra-index-url", "").split()]
    yield from (f"{index.rstrip('/')}/{re.sub(r'[-_.]+', '-', project).lower()}/" for index in indexes)


def _default_index() -> str:
    try:
        return str(importlib.import_module("pip._internal.models.index").PyPI.simple_url)
    except (ImportError, AttributeError):
        raise InputError("pip does not say which index it uses, expected index-url in its configuration") from None


def _address(place: str) -> str:
    """A path as an address; an address as it is."""
    return place if "://" in place or place.startswith("file:") else Path(place).expanduser().resolve().as_uri()


def _links(page: str, settings: dict[str, str]) -> list[str]:
    """Addresses that a page links to, or of the files in a folder."""
    if urlsplit(page).scheme == "file":
        folder = Path(urllib.request.url2pathname(urlsplit(page).path))
        if folder.is_dir() and not (folder / "index.html").is_file():
            return [path.as_uri() for path in sorted(folder.iterdir())]
        if not folder.exists():
            return []
        if folder.is_dir():
            page = (folder / "index.html").as_uri()
    parser = _LinkParser()
    parser.feed(read_url(page, MAX_PAGE, settings).decode("utf-8", "replace"))
    return [urljoin(page, link) for link in parser.found]


class _LinkParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found += [value for name, value in attrs if name == "href" and value]


def _name(link: str) -> str:
    return unquote(urlsplit(link).path).rpartition("/")[2]


def _shown(url: str) -> str:
    """Without fragment, user and password."""
    parts = urlsplit(urldefrag(url)[0])
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _reason(error: Exception) -> str:
    """In a few words, why it could not be read."""
    if isinstance(error, urllib.error.HTTPError):
        return f"answered {error.code} {error.reason}"
    reason = getattr(error, "reason", error)
    return str(reason) or type(error).__name__
