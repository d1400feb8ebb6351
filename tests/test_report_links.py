"""Every number of the report leads to what it comes from, in a real browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import browser as browsing
from tests.browser import Visit
from tests.pipeline import Project
from tests.site import MACRO, PHONE, STANDARD, TRUCKING, page_of, write_published_site
from workflow.lib.job import RUN

# Every linked number of a page's tables: its address, its text, and what its row says of how many samples it has.
LINKED = """() => [...document.querySelectorAll("main tbody td a")].map((link) => {
  const [row, table] = [link.closest("tr"), link.closest("table")];
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells].map((head) => head.textContent.trim());
  const samples = row.cells[heads.indexOf("Samples")] ?? (table.closest("#table1") && link);
  return [link.getAttribute("href"), link.textContent.trim(), samples?.textContent.trim() ?? ""];
})"""

# Texts with digits that lead nowhere.
BARE = """(allowed) => {
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (/\\d/.test(node.data) && !node.parentElement.closest(`a, ${allowed}`)) found.push(node.data.trim());
  }
  return found;
}"""

NO_NUMBERS = [
    "h1, h2, h3, th, td.text, option, .badges li, #cards small",  # names
    ".source",  # rows themselves; the page of data has nothing else
    ".reasons, .summary figcaption, .means-note, .figure figcaption, .hint",  # sentences about what is beside them
    "#count, #zoom, #size, .panels small",  # the page itself; captions of pictures have a test of their own
]


@pytest.fixture(scope="module")
def published(project: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(RUN, raising=False)
        return write_published_site(project.results, tmp_path_factory.mktemp("published"))


@pytest.fixture
def seen(chromium: Browser, published: Path) -> Iterator[Visit]:
    with browsing.visit(chromium, published) as visit:
        yield visit


def linked(page: Page) -> list[tuple[str, str, str]]:
    """Address, text and samples of all linked numbers, once each."""
    return sorted({(address, text, samples) for address, text, samples in page.evaluate(LINKED)})


def number(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-"))


def check_gallery(page: Page, text: str, samples: str) -> None:
    """As many results as the number is the mean of, and it is their mean."""
    asked = parse_qs(page.url.partition("#")[2])
    [of_results, of_samples] = re.findall(r"\d+", page.locator("#count").inner_text())
    assert of_samples == samples, page.url
    if "result" not in asked:
        return
    assert of_results == samples, page.url
    if "sort" in asked and text != "\N{EN DASH}":
        shown = [number(value) for value in page.locator(".value").all_text_contents()]
        tolerance = 1.01 * 10 ** -len(text.partition(".")[2])
        assert sum(shown) / len(shown) == pytest.approx(number(text), abs=tolerance), page.url


def rows_shown(page: Page) -> list[list[str]]:
    """The rows of the table that the address names."""
    section = page.locator(f"#{page.url.partition('#')[2].partition('&')[0]}")
    rows: list[list[str]] = section.locator("tbody tr:visible").evaluate_all(
        "all => all.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    return rows


@pytest.mark.parametrize("kind", ["site", "published"])
def test_numbers_open_exactly_what_they_are_made_of(
    chromium: Browser, request: pytest.FixtureRequest, kind: str
) -> None:
    """Means the samples that they are over, all of them alike; the paper's numbers their rows."""
    with browsing.visit(chromium, request.getfixturevalue(kind)) as visit:
        numbers = {link for name in ("index.html", "tables.html") for link in linked(visit.open(name))}
        ours = {link for link in numbers if link[0].startswith("gallery.html") and link[2].isdigit()}
        page = visit.open("gallery.html")
        for address, text, samples in sorted(ours):
            visit.turn_to(address.partition("#")[2])
            check_gallery(page, text, samples)
        page = visit.open("data.html")
        rows = {link for link in numbers if link[0].startswith("data.html")}
        for address, text, samples in sorted(rows):
            visit.turn_to(address.partition("#")[2])
            found = rows_shown(page)
            if "#paper-table1" in address:
                counted = sum(int(row[-1]) for row in found)
                assert text[0] in "+\N{MINUS SIGN}0" or counted == int(text), address
            elif "#paper-" in address:
                assert len(found) == 1, address
                assert text[0] in "+\N{MINUS SIGN}0" or any(holds(cell, text) for cell in found[0]), address
            else:
                assert str(len(found)) == samples, address
        assert len(ours) > 20 and (len(rows) > 60 if kind == "published" else True)


def holds(cell: str, text: str) -> bool:
    """Whether a cell has the digits of a number that may be shown in units of a power of ten."""
    return cell.partition("e")[0].rstrip("0").rstrip(".") == text.rstrip("0").rstrip(".")


def test_means_are_over_what_every_model_has(seen: Visit) -> None:
    """The gallery says so, and can be made to show the rest."""
    page = seen.open("tables.html")
    row = page.locator("#table2 tbody tr", has_text="Macro").filter(has_text="ICB")
    assert row.locator("td").nth(3).inner_text() == "1"
    row.locator("td a").nth(1).click()
    expect(page.locator("select[name=samples]")).to_have_value("common")
    cards = page.locator("#cards li > a > span")
    expect(cards).to_have_text([MACRO])
    seen.screenshot("gallery-common")
    page.select_option("select[name=samples]", "")
    assert set(cards.all_text_contents()) == {MACRO, STANDARD}
    assert "samples" not in page.url
    expect(seen.open("gallery.html#samples=nope").locator("#count")).to_contain_text("0 results of 0 samples")
    # What Table 1 has no cell for.
    page = seen.open("tables.html")
    other = page.locator("#table1 tbody tr", has_text="Total").first.locator("td a").nth(-2)
    assert other.inner_text() == "1"
    other.click()
    expect(cards).to_have_text([TRUCKING, TRUCKING])  # of each model


def test_rows_that_the_address_names(seen: Visit) -> None:
    """They alone are shown, which is said, and can be undone."""
    page = seen.open("data.html#ablation&case=Macro&sigma=4&n=1.0")
    assert {row[1] for row in rows_shown(page)} == {MACRO, STANDARD}
    note = page.locator(".filter")
    expect(note).to_contain_text("Only rows with case = Macro, sigma = 4, n = 1.0: 2 of 5.")
    expect(note).to_be_in_viewport()
    seen.screenshot("rows")
    page.get_by_role("button", name="psnr", exact=True).first.click()
    assert {row[1] for row in rows_shown(page)} == {MACRO, STANDARD}
    note.get_by_role("link").click()
    expect(note).to_have_count(0)
    assert len(rows_shown(page)) == 5
    for odd in ("ablation&nope=1", "ablation&%", "ablation&case="):
        assert rows_shown(seen.open(f"data.html#{odd}")) == []


def test_whole_numbers_stay_whole(visit: Visit, project: Project) -> None:
    """Also in columns that are empty elsewhere."""
    page = visit.open("data.html#captures&status=used")
    place = page.locator("#captures th").all_inner_texts().index("frames")
    used = [row for row in project.rows("captures.parquet") if row["status"] == "used"]
    assert sorted(row[place] for row in rows_shown(page)) == sorted(str(row["frames"]) for row in used)


def test_failures_are_listed_once(seen: Visit) -> None:
    page = seen.open("index.html")
    assert page.locator(".reasons tbody tr td:first-child").all_inner_texts() == ["RealCMB/0001"]


def test_figures_lead_to_the_samples_they_show(seen: Visit) -> None:
    page = seen.open("figures.html")
    page.locator("#fig5_blur_formation").get_by_role("link", name=MACRO).click()
    expect(page.locator("h1")).to_have_text(MACRO)


@pytest.mark.parametrize("kind", ["site", "published"])
def test_no_number_leads_nowhere(chromium: Browser, request: pytest.FixtureRequest, kind: str) -> None:
    site = request.getfixturevalue(kind)
    pages = ["index.html", "gallery.html#result=", "tables.html", "figures.html"]
    with browsing.visit(chromium, site) as visit:
        for name in [*pages, page_of(site, PHONE), page_of(site, MACRO)]:
            assert visit.open(name).evaluate(BARE, ", ".join(NO_NUMBERS)) == [], name


def test_to_the_content_with_all_filters(visit: Visit) -> None:
    page = visit.open("gallery.html#result=blur-PWB&case=%3DMacro")
    address: Any = page.url
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    expect(page.locator("#count")).to_have_text("1 result of 1 sample")
    assert page.url == address
