"""How soon the report of many samples is seen, in a real browser."""

from pathlib import Path

from tests import browser

PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
LIMIT = 2.0


def first_paints(site: Path) -> list[tuple[str, float, str, float]]:
    """Seconds until something of a page is seen, as bounds; none without a browser. Prints the size of the site."""
    rows: list[tuple[str, float, str, float]] = []
    if reason := browser.reason_to_skip():
        print(f"first paint is not measured: {reason}")
        return rows
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    samples = len(list((site / "samples").glob("*/index.html")))
    print(f"the report of {samples} samples: {size / 1e6:.1f} MB", flush=True)
    sample = next((site / "samples").glob("*/index.html")).relative_to(site)
    with browser.chromium() as started:
        for name in ("index.html", "gallery.html", str(sample)):
            with browser.visit(started, site) as seen:
                page = seen.open(name)
                page.locator("main").wait_for()
                page.wait_for_timeout(500)
                if name == "gallery.html":
                    assert page.locator("#cards li").count() >= min(samples, 20)
                painted = page.evaluate(PAINT) / 1e3
                assert painted > 0
                what = "a sample" if "/" in name else name.removesuffix(".html")
                rows.append((f"first paint of {what}, report of {samples} samples, s", painted, "<=", LIMIT))
    return rows
