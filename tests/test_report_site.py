"""The report, made by a real run and looked at in a real browser."""

import json
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests import browser as browsing
from tests.browser import Visit
from tests.pipeline import Project
from tests.site import BAD, MACRO, NAMES, PHONE, SCENE, STANDARD, TRUCKING, page_of
from workflow.lib.site.gallery import json_in_script

TIMES = "\N{MULTIPLICATION SIGN}"


def layer_of(page: Page, side: str) -> Locator:
    return page.locator(f"#side-{side} .choice:not([hidden]) .layer img").last


def number(text: str | None) -> float:
    return float((text or "").replace("\N{MINUS SIGN}", "-"))


def wait_for_pictures(page: Page) -> None:
    """Until all pictures on the screen are there, with pixels in them."""
    seen = "one => one.checkVisibility() && one.getBoundingClientRect().top < innerHeight"
    shown = f"[...document.images].filter({seen})"
    until(lambda: bool(page.evaluate(f"{shown}.length && {shown}.every(one => one.complete && one.naturalWidth > 0)")))


def until(condition: Callable[[], bool], seconds: float = 10) -> None:
    """Wait for it: the browser's own way would need what the pages forbid, text that is run."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.05)


# ----- Sample pages ---------------------------------------------------------------------------------------------------


def test_the_divider_moves_by_mouse_slider_and_keys(visit: Visit, site: Path) -> None:
    page = visit.open(page_of(site, MACRO))
    assert layer_of(page, "left").get_attribute("src") == "blur-ICB.png"
    assert layer_of(page, "right").get_attribute("src") == "blurry.png"
    box = page.locator("#stage").bounding_box()
    assert box is not None

    def divider() -> float:
        handle = page.locator("#divider").bounding_box()
        assert handle is not None
        return (handle["x"] + handle["width"] / 2 - box["x"]) / box["width"]

    assert divider() == pytest.approx(0.5, abs=0.01)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + 40, steps=3)
    page.mouse.up()
    assert divider() == pytest.approx(0.25, abs=0.02)
    clip = page.locator("#side-right").evaluate("one => getComputedStyle(one).clipPath")
    assert float(re.findall(r"([\d.]+)%", clip)[-1]) == pytest.approx(25, abs=2)
    page.locator("#slider").focus()
    page.keyboard.press("End")
    assert divider() == pytest.approx(1, abs=0.01)
    page.locator("#stage").focus()
    page.keyboard.press("ArrowLeft")
    assert divider() == pytest.approx(0.95, abs=0.01)
    visit.screenshot("sample")


def test_any_two_pictures_can_be_compared(visit: Visit, site: Path) -> None:
    page = visit.open(page_of(site, PHONE))
    labels = page.locator("#left option").all_inner_texts()
    assert labels == ["Sharp", "Blurry", "ICB blur", "PWB blur", "ICB restored", "PWB restored"]
    for place, slug in enumerate(["sharp", "blurry", "blur-ICB", "blur-PWB", "restoration-ICB", "restoration-PWB"]):
        page.select_option("#left", label=labels[place])
        assert layer_of(page, "left").get_attribute("src") == f"{slug}.png"
        page.locator("#stage").focus()
        page.keyboard.press(f"Shift+Digit{place + 1}")
        assert layer_of(page, "right").get_attribute("src") == f"{slug}.png"
        expect(page.locator("#name-right")).to_have_text(labels[place])
        expect(layer_of(page, "right")).to_have_js_property("complete", True)
    # A restored part lies where it belongs, on the rest of the picture.
    whole, part = page.locator("#stage").bounding_box(), layer_of(page, "left").bounding_box()
    assert whole is not None and part is not None
    assert (part["width"] / whole["width"], part["height"] / whole["height"]) == pytest.approx(
        (44 / 48, 40 / 68), abs=0.01
    )
    assert (part["x"] - whole["x"]) / whole["width"] == pytest.approx(2 / 48, abs=0.01)
    wait_for_pictures(page)
    # The largest difference is one of what is looked at: within the restored part.
    page.click("#zoom-focus")
    whole, part = page.locator("#stage").bounding_box(), layer_of(page, "left").bounding_box()
    assert whole is not None and part is not None
    middle = whole["x"] + whole["width"] / 2, whole["y"] + whole["height"] / 2
    assert part["x"] < middle[0] < part["x"] + part["width"] and part["y"] < middle[1] < part["y"] + part["height"]
    page.click("#zoom-all")
    visit.screenshot("restored")


def test_one_zoom_for_all_pictures(visit: Visit, site: Path) -> None:
    page = visit.open(page_of(site, MACRO))
    scale = "one => new DOMMatrix(getComputedStyle(one).transform).a"
    layers = page.locator(".layer:visible")

    def scales() -> set[float]:
        return {round(float(layers.nth(place).evaluate(scale)), 3) for place in range(layers.count())}

    assert layers.count() == 10 and scales() == {1}
    page.click("#zoom-in")
    assert scales() == {2}
    expect(page.locator("#zoom")).to_have_text(f"2{TIMES}")
    panel = page.locator(".panel").nth(3)
    panel.dblclick(position={"x": 5, "y": 5})
    assert scales() == {4}
    page.keyboard.press("-")
    assert scales() == {2}
    # What is under the pointer stays there; a drag in one picture moves all.
    before = layers.first.evaluate("one => new DOMMatrix(getComputedStyle(one).transform).e")
    box = panel.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + 50, steps=3)
    page.mouse.up()
    assert layers.first.evaluate("one => new DOMMatrix(getComputedStyle(one).transform).e") < before
    page.keyboard.press("0")
    assert scales() == {1}
    page.keyboard.press("d")
    [found] = scales()
    assert found > 3
    visit.screenshot("zoomed")
    page.mouse.wheel(0, -100)  # scrolls the page
    assert scales() == {found}
    page.keyboard.down("Control")
    page.locator("#stage").hover()
    page.mouse.wheel(0, 400)
    page.keyboard.up("Control")
    until(lambda: max(scales()) < found)
    # A minus is one wherever it lies on the keyboard; keys are not taken from what else has the focus.
    page.click("#zoom-all")
    page.click("#zoom-in")
    page.locator("#stage").dispatch_event("keydown", {"key": "-", "code": "Digit6", "bubbles": True})
    assert scales() == {1}
    page.get_by_role("link", name="Gallery", exact=True).first.focus()
    page.keyboard.press("+")
    assert scales() == {1}


def test_every_number_leads_to_its_row(visit: Visit, site: Path, project: Project) -> None:
    page = visit.open(page_of(site, MACRO))
    [row] = [r for r in project.rows("metrics/blur.parquet") if (r["id"], r["model"]) == (MACRO, "PWB")]
    link = page.locator("#metrics tbody tr", has_text="PWB blur").locator("td a").first
    assert number(link.inner_text()) == pytest.approx(row["psnr"], abs=0.005)
    link.click()
    source = page.locator("#row-blur-PWB")
    expect(source).to_have_attribute("open", "")
    source.locator("summary").click()
    expect(source).not_to_have_attribute("open", "")
    link.click()
    expect(source).to_have_attribute("open", "")
    fields = dict(zip(source.locator("dt").all_inner_texts(), source.locator("dd").all_inner_texts(), strict=True))
    assert set(fields) == set(row)
    assert float(fields["psnr"]) == row["psnr"] and fields["estimate_sha256"] == row["estimate_sha256"]
    assert "results/metrics/blur.parquet" in source.inner_text() and MACRO in source.locator("code").inner_text()
    assert (site / "data" / "blur.parquet").read_bytes() == (project.results / "metrics" / "blur.parquet").read_bytes()


def test_maps_metrics_and_downloads(visit: Visit, site: Path, project: Project) -> None:
    page = visit.open(page_of(site, PHONE))
    captions = page.locator(".panels figcaption strong").all_inner_texts()
    errors = [f"Error of {name}" for name in ("ICB blur", "PWB blur", "ICB restored", "PWB restored")]
    assert captions[6:] == [*errors, "Depth", "Layers of ICB", "Trajectory"]
    page.locator(".path").scroll_into_view_if_needed()
    page.locator("#metrics").scroll_into_view_if_needed()
    assert page.locator(".path circle").count() == 5
    wait_for_pictures(page)
    folder = site / Path(page_of(site, PHONE)).parent
    picture = project.results / "restoration" / "ICB" / "RealCMB" / f"{PHONE}.png"
    assert (folder / "restoration-ICB.png").read_bytes() == picture.read_bytes()
    assert page.locator("a[download]").evaluate_all("all => all.every(one => one.href.startsWith('file:'))")
    assert all(page.locator("img:not(.under)").evaluate_all("all => all.map(one => one.alt)"))


def test_numbers_in_captions_lead_to_their_rows(visit: Visit, site: Path, project: Project) -> None:
    page = visit.open(page_of(site, PHONE))
    [sample] = [row for row in project.rows("datasets/index.parquet") if row["id"] == PHONE]
    rows = {
        (kind, row["model"]): row
        for kind in ("blur", "restoration")
        for row in project.rows(f"metrics/{kind}.parquet")
        if row["id"] == PHONE
    }
    worst = min("ICB", "PWB", key=lambda model: rows["blur", model]["psnr"])
    part = rows["restoration", "ICB"]
    across, down, along = (f"{1e3 * sample[f'extent_{axis}']:.3g}" for axis in "xyz")
    expected = {
        "Depth": [(f"{sample[name]:.3g} m", "#row-index") for name in ("depth_min", "depth_max")],
        "Layers of ICB": [(f"{rows['blur', 'ICB']['layers']} layers", "#row-blur-ICB")],
        "Error of PWB blur": [(f"{4 * 10 ** (-rows['blur', worst]['psnr'] / 20):.3g}", f"#row-blur-{worst}")],
        "Trajectory": [(f"{across} {TIMES} {down} mm", "#row-index"), (f"{along} mm", "#row-index")],
        "ICB restored": [
            (f"{part['restored_width']} {TIMES} {part['restored_height']} pixels", "#row-restoration-ICB"),
        ],
    }
    captions = page.locator(".panels figcaption")
    for label, links in expected.items():
        caption = captions.filter(has=page.locator("strong").get_by_text(label, exact=True))
        found = caption.locator("small a")
        addresses = found.evaluate_all("all => all.map(one => one.getAttribute('href'))")
        assert list(zip(found.all_inner_texts(), addresses, strict=True)) == links, label
    # What is left without a link: the largest value there is, and how many times the error the scale goes.
    bare = (
        "all => all.map(one => [...one.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join(''))"
    )
    numbers = {found for text in captions.locator("small").evaluate_all(bare) for found in re.findall(r"\d\S*", text)}
    assert numbers == {"1,", "4"}


def test_from_sample_to_sample(visit: Visit, site: Path) -> None:
    page = visit.open("gallery.html#result=blur-PWB&sort=id&order=up")
    visit.asked.clear()
    page.locator("#cards li > a").nth(1).click()
    page.wait_for_load_state()
    names = sorted(NAMES)
    expect(page.locator("h1")).to_have_text(names[1])
    page.locator("#next").click()
    expect(page.locator("h1")).to_have_text(names[2])
    page.locator("#previous").click()
    expect(page.locator("h1")).to_have_text(names[1])
    assert not any(url.endswith("results.js") for url in visit.asked), "names are enough to find neighbours"
    page.locator("#up").click()
    expect(page.locator("select[name=result]")).to_have_value("blur-PWB")


# ----- Gallery, tables and the rest -----------------------------------------------------------------------------------


def cards(page: Page) -> list[str]:
    return page.locator("#cards li > a > span").all_text_contents()


def test_the_gallery_filters_and_sorts(visit: Visit, project: Project) -> None:
    page = visit.open("gallery.html")
    expect(page.locator("#count")).to_have_text("4 results of 4 samples")
    rows = [row for row in project.rows("metrics/blur.parquet") if row["model"] == "ICB"]
    for metric in ("psnr", "ssim", "psnr_unchanged"):
        page.select_option("select[name=sort]", metric)
        for order, turned in (("up", False), ("down", True)):
            page.select_option("select[name=order]", order)
            assert cards(page) == [row["id"] for row in sorted(rows, key=lambda row: row[metric], reverse=turned)]
    page.select_option("select[name=sort]", "psnr")
    best = max(rows, key=lambda row: row["psnr"])
    assert number(page.locator(".value").first.text_content()) == pytest.approx(best["psnr"], abs=0.005)
    visit.screenshot("gallery")
    filters: dict[str, tuple[str, set[str]]] = {
        "dataset": ("=RealCMB", {PHONE}),
        "case": ("=Trucking", {TRUCKING}),
        "motion": ("=parallax", {TRUCKING}),
        "scene": (f"={SCENE}", {STANDARD}),
    }
    for name, (value, expected) in filters.items():
        page.select_option(f"select[name={name}]", value)
        assert set(cards(page)) == expected, name
        assert name in page.url
        page.select_option(f"select[name={name}]", "")
    page.select_option("select[name=result]", "restoration-PWB")
    assert cards(page) == [PHONE]
    page.click("#clear")
    expect(page.locator("#count")).to_have_text("10 results of 4 samples")
    page.fill("input[name=name]", "village")
    expect(page.locator("#count")).to_have_text("4 results of 2 samples")
    page.select_option("select[name=picture]", "error")
    assert page.locator("#cards img").first.get_attribute("src", timeout=1000).count("/thumb-error-")  # type: ignore[union-attr]
    everything = "[...document.images].every(one => one.complete && one.naturalWidth > 0)"
    until(lambda: bool(page.evaluate(everything)))
    # The address says it all.
    address = page.url
    visit.open("index.html")
    page.goto(address)
    expect(page.locator("#count")).to_have_text("4 results of 2 samples")
    page.locator(".value").first.click()
    expect(page.locator("details[open]")).to_have_count(1)


# The first card on the screen, and how far below its top.
FIRST_CARD = """() => {
  const cards = [...document.querySelectorAll("#cards li")];
  const first = cards.findIndex((one) => one.getBoundingClientRect().bottom > 0);
  return [first, cards[first].getBoundingClientRect().top];
}"""


def test_a_long_gallery_with_odd_values(chromium: Browser, site: Path, tmp_path: Path) -> None:
    """All cards are reached by scrolling; what is infinite or missing has its place; what is not there is not shown."""
    copy = Path(shutil.copytree(site, tmp_path / "site"))
    content = json.loads((copy / "results.js").read_text().removeprefix("window.GALLERY = ").removesuffix(";\n"))
    first = next(row for row in content["results"] if row[1] == "blur-ICB")
    metrics = len(content["metrics"])
    content["results"] = [[first[0], "blur-ICB", *([place / 7] * metrics)] for place in range(500)]
    content["results"] += [[0, "blur-ICB", *(["Infinity"] * metrics)], [0, "blur-ICB", *([None] * metrics)], [1, ""]]
    (copy / "results.js").write_text(f"window.GALLERY = {json_in_script(content)};\n")
    with browsing.visit(chromium, copy) as seen:
        page = seen.open("gallery.html#sort=psnr&order=down")
        expect(page.locator(".value").first).to_have_text("∞")
        assert page.locator("#cards li").count() < 200
        for _ in range(60):
            page.evaluate("scrollTo(0, document.body.scrollHeight)")
            page.wait_for_timeout(20)
        values = page.locator(".value").all_text_contents()
        assert len(values) == 502 and values[-1] == "\N{EN DASH}" and values[-2] == "0.00"
        assert values[1] == f"{499 / 7:.2f}"
        # Back from a sample's page, one is where one was.
        page.locator("#cards li").nth(300).scroll_into_view_if_needed()
        page.mouse.wheel(0, 77)
        page.wait_for_timeout(200)
        before = page.evaluate(FIRST_CARD)
        assert 250 < before[0] < 310
        page.locator("#cards li > a").nth(before[0] + 6).click()
        page.wait_for_load_state()
        page.go_back()
        until(lambda: page.evaluate(FIRST_CARD) == pytest.approx(before, abs=3))
        page.select_option("select[name=order]", "up")
        assert page.evaluate(FIRST_CARD)[0] < 310, "another order begins anew"
        page = seen.open("gallery.html#result=")
        expect(page.locator("#count")).to_contain_text("503 results")
        page = seen.open(f"gallery.html#result=&name={content['samples'][1][1]}")
        expect(page.locator("#cards li")).to_contain_text("nothing was made of it")
        for odd in ("case==Nope", "result=nope"):
            expect(seen.open(f"gallery.html#{odd}").locator("#count")).to_contain_text(
                "0 results of 0 samples: nothing"
            )
        for odd in ("length=1", "__proto__=2", "clear=1", "%", "item=3"):
            expect(seen.open(f"gallery.html#{odd}").locator("#count")).to_contain_text("502 results")
            seen.open(f"tables.html#{odd}")


def test_tables_sort_and_their_numbers_lead_to_samples(visit: Visit) -> None:
    page = visit.open("tables.html")
    table = page.locator("#table2 table")
    column = table.locator("thead tr").last.locator("th").all_inner_texts().index("PSNR [dB] ↑")

    def values() -> list[float]:
        cells = table.locator(f"tbody tr td:nth-child({column + 1})")
        return [number(text) for text in cells.all_inner_texts()]

    original = values()
    assert len(original) == 6
    head = table.get_by_role("button", name="PSNR [dB] ↑", exact=True)
    head.click()
    assert values() == sorted(original)
    expect(table.locator("[aria-sort=ascending]")).to_have_count(1)
    visit.screenshot("tables")
    head.press("Enter")
    assert values() == sorted(original, reverse=True)
    head.click()
    assert values() == original
    table.get_by_role("button", name="Case").click()
    assert table.locator("tbody tr td:nth-child(2)").all_inner_texts() == sorted(["Macro", "Standard", "Trucking"] * 2)
    trucking = table.locator("tbody tr", has_text="Trucking").filter(has_text="PWB")
    shown = number(trucking.locator(f"td:nth-child({column + 1})").inner_text())
    trucking.locator("td a").nth(1).click()
    assert cards(page) == [TRUCKING]
    assert number(page.locator(".value").text_content()) == shown


def test_every_page_opens_and_no_link_is_broken(visit: Visit, site: Path) -> None:
    pages = ["index.html", "gallery.html", "tables.html", "figures.html", "data.html", page_of(site, PHONE)]
    addresses = set()
    for name in pages:
        page = visit.open(name)
        addresses |= set(page.evaluate("[...document.querySelectorAll('a[href]')].map(one => one.href)"))
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is too wide"
        if name in ("index.html", "figures.html"):
            visit.screenshot(Path(name).stem)
    files = {Path(address.removeprefix("file://").partition("#")[0]) for address in addresses}
    assert len(files) > 20 and all(path.is_file() for path in files)
    for address in addresses:
        path, _, anchor = address.removeprefix("file://").partition("#")
        if anchor and not path.endswith("gallery.html"):
            assert f'id="{anchor.partition("&")[0]}"' in Path(path).read_text(), address


def test_the_overview_says_what_ran(visit: Visit, site: Path) -> None:
    page = visit.open("index.html")
    text = page.locator("main").inner_text()
    assert "4 captures used" in text and "1 capture left out" in text
    assert "No LPIPS: switched off in the configuration" in text
    assert re.search(r"This site: \d[\d.]* [kM]B", text)
    assert page.locator("#failures + div tbody tr").count() == 1
    page.get_by_role("link", name="Worst PWB blur").click()
    values = [number(text) for text in page.locator(".value").all_text_contents()]
    assert len(values) == 4 and values == sorted(values)


def test_names_cannot_inject_markup(visit: Visit, site: Path) -> None:
    """Shown as they are: nothing runs, and no element comes of them. Dialogs would be complaints."""
    page = visit.open("index.html")
    assert BAD in page.locator("main").inner_text()
    assert page.locator("main script").count() == 0
    page = visit.open(page_of(site, STANDARD))
    expect(page.locator(".badges")).to_contain_text(SCENE)
    assert page.locator("img[src=x]").count() == 0
    page = visit.open("gallery.html#" + "name=%3Cimg%20src%3Dx%20onerror%3Dalert(3)%3E")
    expect(page.locator("#count")).to_have_text("0 results of 0 samples: nothing has all of this")
    page.click("#clear")
    assert any(SCENE in text for text in page.locator("#cards small").all_text_contents())
    assert page.locator("img[src=x]").count() == 0
    for path in site.rglob("*"):
        if path.suffix in (".html", ".js"):
            assert "<script>alert" not in path.read_text() and "<img src=x" not in path.read_text()


@pytest.mark.parametrize("name", ["index.html", "gallery.html", "tables.html", "figures.html", "data.html", MACRO])
def test_dark_and_on_a_phone(chromium: Browser, site: Path, name: str) -> None:
    phone: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    name = name if name.endswith(".html") else page_of(site, name)
    grounds = {}
    for scheme in ("light", "dark"):
        with browsing.visit(chromium, site, color_scheme=scheme, **phone) as seen:
            page = seen.open(name)
            grounds[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert page.evaluate("document.documentElement.scrollWidth") <= 360, "the page is wider than the phone"
            seen.screenshot(f"phone-{scheme}-{Path(name).parts[0].removesuffix('.html')}")
            low = page.evaluate(CONTRAST)
            assert low == [], scheme
    assert grounds == {"light": "rgb(255, 255, 255)", "dark": "rgb(19, 19, 22)"}


# Texts whose colour is too close to that of their ground (WCAG 2, level AA: 4.5 to 1), on grounds of one colour.
CONTRAST = """() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const bright = (colour) => {
    const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = parts(colour).slice(0, 3).map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (one) => {
    for (; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if ((parts(colour)[3] ?? 1) === 1) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const texts = [...document.querySelectorAll("main *, nav a")].filter((one) => !one.closest(".stage") &&
    [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()));
  return texts.map((one) => {
    const [a, b] = [bright(getComputedStyle(one).color), bright(ground(one))].sort((x, y) => y - x);
    return [one.tagName, one.textContent.trim().slice(0, 30), (a + 0.05) / (b + 0.05)];
  }).filter(([, , ratio]) => ratio < 4.5);
}"""


def test_two_fingers_zoom(chromium: Browser, site: Path) -> None:
    with browsing.visit(chromium, site, has_touch=True, viewport={"width": 360, "height": 740}) as seen:
        page = seen.open(page_of(site, MACRO))
        stage = page.locator("#stage")
        stage.scroll_into_view_if_needed()
        box = stage.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        session = page.context.new_cdp_session(page)

        def touch(kind: str, *spread: float) -> None:
            points = [
                {"x": x + side * half, "y": y, "id": place} for half in spread for place, side in enumerate((-1, 1))
            ]
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        touch("touchStart", 20)
        for half in (25, 35, 50, 60):
            touch("touchMove", half)
        touch("touchEnd")
        before = page.locator(".layer:visible").first.bounding_box()
        touch("touchStart", 40)
        for shift in (5, 15, 25):
            x += shift
            touch("touchMove", 40)
        touch("touchEnd")
        after = page.locator(".layer:visible").first.bounding_box()
        assert before is not None and after is not None and after["x"] > before["x"] + 10, "two fingers move it, too"
        zoom = number(page.locator("#zoom").inner_text().removesuffix("\N{MULTIPLICATION SIGN}"))
        assert zoom == pytest.approx(3, rel=0.3)
