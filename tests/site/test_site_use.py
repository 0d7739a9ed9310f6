"""The site as people use it, in a real browser: filters, entries side by side, copying, a phone.

Every kind of page is looked at by axe-core, in both schemes and on a phone. Screenshots go to
``build/screenshots``, for whoever wants to look at them.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.site_samples import ROOT, built, lively_results

playwright = pytest.importorskip("playwright.sync_api")

KINDS = ("index", "board", "entry", "problem", "author", "shapes", "models", "compare", "machine")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
SCREENSHOTS = ROOT / "build/screenshots"

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no chromium here")
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-gpu"]
        )
        yield launched
        launched.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Open]:
    """Opens a page; at the end nothing was complained of, and nothing asked for but files."""
    contexts, said = [], []

    def open_(path: Path, query: str = "", **options: Any) -> Any:
        context = browser.new_context(**{"viewport": DESKTOP} | options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.on(
            "request",
            lambda request: request.url.startswith("file:") or said.append(request.url),
        )
        page.goto(path.as_uri() + query)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert said == []


def _place(site: Path, kind: str) -> tuple[Path, str]:
    """A page of a kind, and its query."""
    if kind == "compare":
        stems = {path.stem: path.read_text("utf-8") for path in site.glob("entries/*.html")}
        (tiled,) = (stem for stem, text in stems.items() if "<dd><code>ann-3<" in text)
        (blocks,) = (stem for stem, text in stems.items() if "<h1>blocks<" in text)
        return site / "compare.html", f"?a={tiled}&b={blocks}"
    if kind == "machine":
        (code,) = site.glob("sass/*.html")
        return code, ""
    if (site / f"{kind}.html").exists():
        return site / f"{kind}.html", ""
    folder = {"board": "boards", "entry": "entries", "problem": "problems", "author": "authors"}
    found = sorted((site / folder.get(kind, kind)).glob("*.html"))
    return max(found, key=lambda path: len(path.read_text("utf-8"))), ""


@pytest.mark.corpus
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing(lively: Path, opened: Open, kind: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    path, query = _place(lively, kind)
    for scheme, size in (("light", DESKTOP), ("dark", DESKTOP), ("light", PHONE)):
        page = opened(path, query, color_scheme=scheme, viewport=size)
        if kind == "compare":
            page.wait_for_selector("#pair:not([hidden])")
        for details in page.query_selector_all("details"):
            details.evaluate("each => { each.open = true; }")
        found = axe.run(page, options={"preload": False})  # which asks for the style sheet again
        assert [each["id"] for each in found.response["violations"]] == [], found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


@pytest.mark.corpus
@pytest.mark.parametrize("kind", KINDS)
def test_screenshots_are_kept(lively: Path, opened: Open, kind: str) -> None:
    path, query = _place(lively, kind)
    for name, options in (
        ("desktop", {}),
        ("phone", {"viewport": PHONE}),
        ("dark", {"color_scheme": "dark"}),
    ):
        file = SCREENSHOTS / f"{kind}-{name}.png"
        opened(path, query, **options).screenshot(path=str(file), full_page=True)
        assert file.stat().st_size > 5000


def _visible(page: Any, selector: str) -> list[str]:
    return [each.inner_text() for each in page.query_selector_all(selector) if each.is_visible()]


def test_boards_and_problems_are_filtered(lively: Path, opened: Open) -> None:
    page = opened(lively / "index.html")
    rows, cards = "#board-list tbody tr", "#problem-list > li"
    assert len(_visible(page, rows)) == 3 and len(_visible(page, cards)) == 1
    page.select_option("select[name=type]", label="float16")
    assert len(_visible(page, rows)) == 1
    assert page.inner_text(".count") == "1 of 3 boards, 1 of 1 problems"
    page.select_option("select[name=device]", label="NVIDIA A100-SXM4-80GB")
    assert _visible(page, rows) == []
    page.select_option("select[name=type]", label="any")
    (left,) = _visible(page, rows)
    assert "A100" in left
    page.select_option("select[name=device]", label="any")
    page.select_option("select[name=language]", label="Triton")
    assert len(_visible(page, rows)) == 1
    assert page.inner_text(".count") == "1 of 3 boards, 1 of 1 problems"


def test_a_tag_of_a_problem_leads_to_its_kind(tmp_path: Path, opened: Open) -> None:
    from harness.problem.format.load import load_problem

    two = [load_problem(ROOT / "problems" / slug) for slug in ("vector-add", "softmax")]
    site = built(tmp_path / "out", lively_results()[:1], two)
    page = opened(site / "problems/softmax.html")
    page.click("text=reduction")
    assert page.url.partition("?")[0].endswith("index.html")
    (card,) = _visible(page, "#problem-list > li")
    assert "Softmax" in card
    assert page.eval_on_selector("select[name=tag]", "s => s.selectedOptions[0].text") == (
        "reduction"
    )


def test_entries_of_a_board_are_filtered_by_language(lively: Path, opened: Open) -> None:
    page = opened(*_place(lively, "board"))
    assert len(_visible(page, "#entries tbody tr")) > 5
    page.select_option("select[name=language]", label="Triton")
    (row,) = _visible(page, "#entries tbody tr")
    assert "blocks" in row


def test_two_entries_are_chosen_and_shown_side_by_side(lively: Path, opened: Open) -> None:
    page = opened(*_place(lively, "board"))
    boxes = page.query_selector_all("#entries input[type=checkbox]")
    named = {each.get_attribute("aria-label"): each for each in boxes}
    assert page.is_hidden(".pair-bar")
    first = next(each for each in boxes if each.get_attribute("aria-label") == "Compare tiled")
    first.check()
    assert "Tick another one" in page.inner_text(".pair-bar")
    named["Compare blocks"].check()
    page.click(".pair-bar a")
    page.wait_for_selector("#pair:not([hidden])")
    assert page.inner_text("#pair-verdict") == (
        "tiled is 1.250× as fast as blocks, 95 % interval 1.246× to 1.254×."
    )
    assert "m=64, n=64, k=64" in page.inner_text("#pair-shapes")
    assert page.query_selector_all("#pair-shapes .least")
    assert "__global__ void add" in page.inner_text("#pair-code")
    page.click("#pair-figures a >> nth=1")
    assert page.inner_text("h1") == "blocks"


@pytest.mark.parametrize(
    "query",
    ["", "?a=x", "?a=../script&b=../script", "?a=<img src=x onerror=alert(1)>&b=y", "?a=//e&b=//e"],
)
def test_a_query_that_names_no_entries_shows_none(lively: Path, opened: Open, query: str) -> None:
    page = opened(lively / "compare.html", query)
    assert "Choose two entries on a board" in page.inner_text("#pair-note")
    assert page.is_hidden("#pair") and not page.query_selector_all("img")


def test_names_and_code_are_text_beside_others(tmp_path: Path, opened: Open) -> None:
    evil = '"><img src=x onerror=alert(1)><script>alert(2)</script>\u2028'
    results = [
        one.model_copy(
            update={"solution": one.solution.model_copy(update={"name": evil, "author": evil + n})}
        )
        for n, one in zip("ab", lively_results()[:2], strict=True)
    ]
    site = built(tmp_path / "out", results, sources=dict.fromkeys(("ann-0", "ann-1"), evil))
    a, b = (path.stem for path in site.glob("entries/*.html"))
    page = opened(site / "compare.html", f"?a={a}&b={b}")
    page.wait_for_selector("#pair:not([hidden])")
    assert "<img src=x" in page.inner_text("#pair-figures")
    assert "<script>alert(2)" in page.inner_text("#pair-code")
    assert not page.query_selector_all("img") and len(page.query_selector_all("script")) == 4


def test_code_is_copied(lively: Path, opened: Open) -> None:
    path, query = _place(lively, "compare")
    stem = query[3:].partition("&")[0]
    page = opened(path.parent / "entries" / f"{stem}.html")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("text=Copy")
    page.wait_for_function("document.querySelector('.copy').textContent !== 'Copy'")
    if page.inner_text(".copy") == "Copied":
        copied = page.evaluate("navigator.clipboard.readText()")
    else:
        copied = page.evaluate("getSelection().toString()")
    assert copied.startswith("// Adds <two> & more.\n#include <cuda.h>\n__global__ void add(")


@pytest.mark.parametrize("kind", ["index", "board"])
def test_a_phone_shows_the_speed_up(lively: Path, opened: Open, kind: str) -> None:
    page = opened(*_place(lively, kind), viewport=PHONE)
    table = page.query_selector("table.sortable")
    headers = table.query_selector_all("thead th")
    place = next(n for n, each in enumerate(headers) if "Speed-up" in each.inner_text())
    for row in table.query_selector_all("tbody tr"):
        box = row.query_selector_all("th, td")[place].bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]
