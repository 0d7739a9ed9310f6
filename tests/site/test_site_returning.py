"""What makes people come back: authors, histories, leaders, models, filters, times by shape."""

import csv
import json
import re
from pathlib import Path

import pytest
from support.samples import measurement, result
from support.site_samples import CODE, PROBLEM, Page, built, lively_results, of_model, pages

from harness.records.result import Result
from harness.site import authors as authors_module
from harness.site import boards as boards_module
from harness.site.facets import Facets

ABOUT = {"problem": PROBLEM.slug, "problem_hash": PROBLEM.hash}


def _named(site: Path, pattern: str, title: str) -> Page:
    (found,) = [
        page for page in map(Page, site.glob(pattern)) if f"<h1>{title}</h1>" in page.source
    ]
    return found


def _best(site: Path) -> Page:
    """The board with most entries."""
    return max(map(Page, site.glob("boards/*.html")), key=lambda page: len(page.source))


def _of(site: Path, solution_hash: str) -> Page:
    (found,) = [
        page
        for page in map(Page, site.glob("entries/*.html"))
        if f"<dt>solution</dt><dd><code>{solution_hash}<" in page.source
    ]
    return found


def test_an_author_has_a_page_with_entries_and_history(lively: Path) -> None:
    page = _named(lively, "authors/*.html", "ann")
    assert "5 boards with the first rank 2 results accepted 5 of 6" in page.text
    entries, history = page.source.split('id="history"')
    assert re.findall(r'data-value="(\d*)">\d*<small>of (\d)', entries) == [
        ("1", "1"), ("1", "8"), ("3", "8"), ("4", "8"), ("8", "8"),
    ]  # fmt: skip
    days = re.findall(r'datetime="2026-03-(\d\d)', history)
    assert days == ["04", "03", "02", "01", "01"]
    linked = {each["href"] for each in page.all("a") if each["href"].startswith("../boards/")}
    assert len(linked) == 2


def test_names_of_authors_lead_to_their_pages(lively: Path) -> None:
    target = next(path.name for path in lively.glob("authors/ann-*.html"))
    for page in (lively / "index.html", _best(lively).path, _of(lively, "ann-3").path):
        assert target in page.read_text(encoding="utf-8"), page


def test_many_entries_of_an_author_take_several_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authors_module, "ROWS", 2)
    site = built(tmp_path / "out", lively_results(), everything=True)
    found = sorted(site.glob("authors/ann-*.html"))
    assert len(found) == 3
    assert sum(Page(path).source.count('<th scope="row">') for path in found) == 5 + 5


def test_a_board_shows_who_led_when(lively: Path) -> None:
    text = _best(lively).text.partition("Best over time")[2]
    led = re.findall(r"(2026-03-\d\d) (\d\.\d+)× ± \S+ (\w+) by ([\w-]+)", text)
    assert led[:3] == [
        ("2026-03-04", "2.750", "tiled", "ann"),
        ("2026-03-02", "2.200", "blocks", "bea"),
        ("2026-03-02", "1.900", "tiled", "ann"),
    ]
    assert "leads-t leads-d" in [each.get("aria-labelledby") for each in _best(lively).all("svg")]


def test_an_entry_shows_what_its_author_had_before(lively: Path) -> None:
    page = _of(lively, "ann-3")
    history = page.source.partition('<h2 id="history">')[2].partition("</section>")[0]
    assert re.findall(r"(\d\.\d+)× ±", history) == ["2.750", "1.400", "1.900", "0.8000"]
    assert "<td>this</td>" in history and "<code>ann-0</code>" in history
    assert "past-t past-d" in [each.get("aria-labelledby") for each in page.all("svg")]


def test_an_entry_without_a_past_has_no_history(site: Path) -> None:
    assert all('id="history"' not in page.source for page in map(Page, site.glob("entries/*.html")))


def test_cards_say_how_many_entries_and_who_leads(lively: Path) -> None:
    page = Page(lively / "index.html")
    card = page.source.partition('id="problem-list"')[2].partition("</ul>")[0]
    assert "10 entries" in card
    assert re.search(r"<b>1.310× ± [\d.]+</b> <span>half by <a [^>]*>ann</a>", card)
    assert "and 1 more" in card
    lately = page.text.partition("Lately in the lead")[2]
    assert lately.index("2.750×") < lately.index("1.310×")


def test_filters_name_what_there_is(lively: Path) -> None:
    page = Page(lively / "index.html")
    names = re.findall(r'<select id="board-list-(\w+)"', page.source)
    assert names == ["device", "type", "language", "tag"]
    tokens = set(re.findall(r'<option value="(\w+)">', page.source))
    used = set(" ".join(re.findall(r'data-facets="([^"]*)"', page.source)).split())
    assert tokens <= used
    assert all(re.fullmatch(r"[a-h]\d+", token) for token in used)


def test_facets_have_tokens_of_ours() -> None:
    facets = Facets([{"tag": ["<b>", "a b"], "type": ["x"]}, {"tag": ["a b"], "type": []}])
    assert [(each.name, each.options) for each in facets.choices] == [
        ("tag", (("a0", "<b>"), ("a1", "a b")))
    ]
    assert facets.tokens({"tag": ["a b"], "type": ["x"]}) == "a1 b0"
    assert facets.tokens({"tag": [], "type": [""]}) == ""
    assert facets.token("tag", "<b>") == "a0"


def test_models_are_compared(lively: Path) -> None:
    page = Page(lively / "models.html")
    assert page.text.index("coder-70b") < page.text.index("coder-8b")
    for words in (
        "pass@1",
        "pass@2",
        "fast_1@1",
        "50.0 %",
        "100.0 %",
        "1 accepted, 1 wrong answer",
    ):
        assert words in page.text
    assert "models.html" in {each["href"] for each in Page(lively / "index.html").all("a")}


def test_without_models_there_is_no_page_of_them(site: Path) -> None:
    assert not (site / "models.html").exists()
    assert not any("models.html" in page.source for page in pages(site))


def test_times_by_shape_are_a_page_and_a_csv(lively: Path) -> None:
    page = Page(lively / "shapes" / _best(lively).path.name)
    head = re.findall(r'class="right shape" data-sort="number">([^<]*)<', page.source)
    assert head[:2] == ["m=64, n=64, k=64", "m=4096, n=4096, k=4096"]
    assert page.source.count('class="right least"') >= 2
    least = re.search(r'class="right least"[^>]*>9.00 µs', page.source)
    assert least is not None
    with open(lively / "shapes.csv", encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert len(found) == sum(len(each.measurements) for each in lively_results())
    assert {each["shape"] for each in found} >= {"m=64,n=64,k=64", "m=4096,n=4096,k=4096"}
    links = {each["href"] for each in _best(lively).all("a")}
    assert f"../shapes/{page.path.name}" in links and "../shapes.csv" in links


def test_code_and_record_can_be_had(lively: Path, tmp_path: Path) -> None:
    page = _of(lively, "ann-3")
    stem = page.path.stem
    links = {each["href"]: each.get("download") for each in page.all("a")}
    assert links[f"{stem}.txt"] == "tiled.cu"
    assert (page.path.parent / f"{stem}.txt").read_text(encoding="utf-8") == CODE
    record = (page.path.parent / f"{stem}.json").read_text(encoding="utf-8")
    assert links[f"{stem}.json"] and Result.from_json(record).id == "ann-3"
    hidden = built(tmp_path / "out", lively_results(), sources={"ann-3": CODE}, code=False)
    assert not [*hidden.glob("entries/*.txt"), *hidden.glob("entries/*.json")]
    assert not any("__global__" in path.read_text("utf-8") for path in hidden.glob("entries/*"))


def test_an_entry_leads_to_itself_beside_the_first(lively: Path) -> None:
    first = _of(lively, "ann-3")
    assert "compare.html" not in first.source
    other = _of(lively, "ann-1")
    pair = f"../compare.html?a={other.path.stem}&b={first.path.stem}"
    assert pair in {each["href"] for each in other.all("a")}


def test_a_script_of_an_entry_is_data_alone(lively: Path) -> None:
    for path in lively.glob("entries/*.js"):
        found = re.fullmatch(r'receiveEntry\("([a-z0-9-]+)", (.*)\);\n', path.read_text("utf-8"))
        assert found is not None and found[1] == path.stem
        assert json.loads(found[2])["board"]


def test_columns_are_explained(lively: Path) -> None:
    for pattern, words in (
        ("boards", "share one"),
        ("entries", "a batch of its own"),
        ("authors", "cannot be compared"),
    ):
        for page in map(Page, lively.glob(f"{pattern}/*.html")):
            assert "What the columns mean" in page.text and words in page.text
    assert "without bias" in Page(lively / "models.html").text


def test_a_roofline_is_drawn_where_intensities_differ(lively: Path) -> None:
    with_one = _of(lively, "ann-3")
    assert "roofline-t" in with_one.source and "would be one column" not in with_one.text
    alone = _named(lively, "entries/*.html", "blocks")
    assert "roofline-t" not in alone.source


def test_one_intensity_is_told_in_words(tmp_path: Path) -> None:
    shapes = tuple(
        measurement(spec=f"n={n}", flops=1e9, bytes=4e9, sol_time_s=8e-6) for n in (1, 2)
    )
    site = built(tmp_path / "out", [result(measurements=shapes, **ABOUT)])
    (page,) = map(Page, site.glob("entries/*.html"))
    assert "roofline-t" not in page.source
    assert "Every shape does 0.25 operations for each byte" in page.text


@pytest.mark.corpus
def test_no_page_is_larger_than_the_budget(tmp_path: Path) -> None:
    long = "x" * 60
    many = [
        result(
            author=f"{long}{n % 40}",
            name=f"{long}{n}",
            id=f"{n}",
            minutes=n * 60,
            speedup=1 + n / 500,
            score=None,
            measurements=(),
            **ABOUT,
        )
        for n in range(1000)
    ]
    worst = [
        each.model_copy(update={"measurements": shapes, "score": scored.score})
        for each, scored in zip(many, map(_scored, range(1000)), strict=True)
        for shapes in [tuple(measurement(spec=f"n={n},m={n},k={n}") for n in range(12))]
    ]
    models = [
        of_model(result(id=f"m{n}", author="m", name=f"s{n}", **ABOUT), f"{long}{n}")
        for n in range(120)
    ]
    site = built(tmp_path / "out", [*worst, *models], everything=True)
    sizes = {page: page.stat().st_size for page in site.rglob("*.html")}
    assert max(sizes.values()) <= 120_000, max(sizes, key=lambda page: sizes[page])
    assert len(list(site.glob("boards/*.html"))) > 10


def _scored(n: int) -> Result:
    return result(speedup=1 + n / 500)


def test_boards_on_the_first_page_are_paged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boards_module, "INDEX_ROWS", 2)
    site = built(tmp_path / "out", lively_results())
    first, second = Page(site / "index.html"), Page(site / "index-2.html")
    assert "index-2.html" in {each["href"] for each in first.all("a")}
    linked = re.findall(r'<th scope="row"><a href="(boards/[^"]*)"', first.source + second.source)
    assert len(linked) == 3 and "problem-list" not in second.source


def test_a_record_of_many_samples_is_left_out(tmp_path: Path) -> None:
    huge = measurement(samples_s=(1e-6,) * 60_000)
    site = built(tmp_path / "out", [result(measurements=(huge,), **ABOUT)])
    assert not list(site.glob("entries/*.json")) and len(list(site.glob("entries/*.js"))) == 1
    (page,) = map(Page, site.glob("entries/*.html"))
    assert "Raw record" not in page.text
