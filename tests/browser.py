"""A real Chromium, driven through the pages of a report as they lie on the disk."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parent.parent
SCREENSHOTS = ROOT / "results" / "screenshots"
"""Kept for people to look at."""

# No sandbox, because tests may be run by root; nothing that Chromium would do by itself.
OPTIONS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
OPTIONS += ["--disable-component-update", "--disable-sync", "--disable-quic", "--hide-scrollbars"]


def reason_to_skip() -> str | None:
    """Why there is no browser here, if so."""
    return None if _chromium() else "Chromium is not installed: apt-get install chromium"


def _chromium() -> str | None:
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@dataclass
class Visit:
    """A page, with all that it complained of and asked for."""

    page: Page
    site: Path
    complaints: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def open(self, name: str) -> Page:
        """Go to a page of the site, and wait until it is there."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.site.as_uri()}/{name}")
        self.page.wait_for_load_state("load")
        return self.page

    def turn_to(self, anchor: str) -> None:
        """Go to another anchor of the page that is open, and wait until the page has taken notice of it."""
        self.page.evaluate(
            """anchor => new Promise((done) => {
              if (location.hash === `#${anchor}`) return done();
              addEventListener("hashchange", done, { once: true });
              location.hash = anchor;
            })""",
            anchor,
        )

    def screenshot(self, name: str) -> None:
        """Of what is seen now."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")

    def fail(self, url: str, reason: str) -> None:
        """A file that did not come; one that was not waited for, when the page was left, is no fault."""
        if "ERR_ABORTED" not in reason:
            self.complaints.append(f"{url}: {reason}")

    def check(self) -> None:
        """Nothing went wrong, and nothing but files was asked for."""
        assert self.complaints == []
        assert self.asked
        outside = [url for url in self.asked if not url.startswith((f"{self.site.as_uri()}/", "data:", "about:"))]
        assert outside == []


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser of its own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=OPTIONS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def visit(browser: Browser, site: Path, **options: Any) -> Iterator[Visit]:
    """Pages of a site in a window of its own; at the end, that all was well."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    page = context.new_page()
    page.set_default_timeout(10_000)
    seen = Visit(page, site)
    page.on("console", lambda message: seen.complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    page.on("requestfailed", lambda request: seen.fail(request.url, str(request.failure)))
    page.on("request", lambda request: seen.asked.append(request.url))
    page.on("dialog", lambda dialog: (seen.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    try:
        yield seen
        seen.check()
    finally:
        context.close()
