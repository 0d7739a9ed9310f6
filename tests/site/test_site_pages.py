"""What the pages say, that they hang together, and that everybody can use them."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from support.samples import build_with
from support.site_samples import PROBLEM, Page, built, pages, some_results

from harness.site import boards as boards_module
from harness.site.boards import slug
from harness.starter import STARTERS


def _one(site: Path, pattern: str, words: str) -> Page:
    (found,) = [page for page in map(Page, sorted(site.glob(pattern))) if words in page.text]
    return found


def test_a_board_has_ranks_bars_times_and_reasons(site: Path) -> None:
    page = _one(site, "boards/*.html", "NVIDIA H100")
    ranks = re.findall(r'class="right rank" data-value="(\d*)">([^<]+)<', page.source)
    assert ranks == [("1", "1"), ("2", "2"), ("3", "3="), ("3", "3="), ("", "–")]
    places = [page.text.index(name) for name in ("dot", "ann", "cyd", "bea", "eve")]
    assert places == sorted(places)
    for words in ("10.25×", "12.3 µs", "%", "CUDA C++", "2026-03-01", "not ranked: too noisy"):
        assert words in page.text
    assert "Ranks allow for scores that scatter by 0.15 % (σ) from grade to grade" in page.text
    assert len([each for each in page.all("svg") if "mini" in each["class"]]) == 5
    first = re.search(r'class="bar" y="4" height="8" width="([\d.]+)"', page.source)
    assert first is not None and 0.9 * 140 < float(first[1]) <= 140


def test_a_board_of_a_cpu_says_what_its_times_are(site: Path) -> None:
    page = _one(site, "boards/*.html", "EPYC")
    assert "Functional timing on a CPU" in page.text
    assert "σ" not in page.text
    assert page.source.count(">code</a>") == 1


def test_an_entry_has_charts_shapes_environment_hashes(site: Path) -> None:
    page = _one(site, "entries/*.html", "kernel-dot")
    labels = [each["aria-labelledby"] for each in page.all("svg")]
    assert labels == ["speedup-t speedup-d", "samples-t samples-d", "roofline-t roofline-d"]
    for words in (
        "rank 1",
        "m=64, n=64, k=64",
        "3.11.9",
        "sm_90",
        "dot" * 8,
        "123456789",
        "1 cases",
    ):
        assert words in page.text
    assert PROBLEM.hash in page.text
    assert "Not at hand: only its hash is known." in page.text


def test_the_code_is_shown_if_it_is_that_of_the_record(site: Path, tmp_path: Path) -> None:
    page = _one(site, "entries/*.html", "EPYC")
    assert "__global__" in page.text
    without = built(tmp_path / "out", some_results(), code=False)
    assert "__global__" not in _one(without, "entries/*.html", "EPYC").text
    changed = [
        each.model_copy(update={"solution": each.solution.model_copy(update={"hash": "0" * 64})})
        for each in some_results()
    ]
    other = built(tmp_path / "other", changed)
    assert all("__global__" not in Page(path).text for path in other.glob("entries/*.html"))


def test_a_problem_has_its_statement_signatures_and_starters(site: Path) -> None:
    page = Page(site / "problems" / f"{PROBLEM.slug}.html")
    assert "leaky rectifier" in page.text
    assert len(page.all("math")) > 20
    assert "$" not in re.sub(
        r'alttext="[^"]*"', "", page.source.split("Statement</h2>")[1].split("Signatures</h2>")[0]
    )
    assert 'extern "C" void solution(const VAR* matrix_a' in page.text
    assert "def solution(matrix_a" in page.text
    assert len(page.all("details")) == len(STARTERS) and "@triton.jit" in page.text
    assert "boards/" in page.source


def test_a_problem_has_its_signatures_once(site: Path, tmp_path: Path) -> None:
    said = Page(site / "problems" / f"{PROBLEM.slug}.html").text
    short = replace(PROBLEM, statement="Multiply.")
    page = Page(built(tmp_path / "short", [], [short]) / "problems" / f"{PROBLEM.slug}.html")
    for text in (said, page.text):
        before = text.split("Files that build and run")[0]
        assert len(re.findall(r"def solution ?\(matrix_a", before)) == 1
    assert "Signatures" in page.text and "Signatures" not in said


def test_libraries_on_boards_entries_and_problems(tmp_path: Path) -> None:
    results = [
        each.model_copy(update={"build": build_with(("cublasLt", "13.0.2"), ("cutlass", "4.2.0"))})
        for each in some_results()[:1]
    ]
    some = replace(PROBLEM, libraries=("cublasLt", "cutlass"))
    site = built(tmp_path / "some", results, [some])
    (board,) = map(Page, site.glob("boards/*.html"))
    assert "cublasLt, cutlass" in board.text
    (entry,) = map(Page, site.glob("entries/*.html"))
    assert "cublasLt 13.0.2, cutlass 4.2.0" in entry.text
    words = "CUDA libraries that a CUDA C++ file may use: "
    assert f"{words}cublasLt, cutlass." in Page(site / "problems" / f"{some.slug}.html").text
    site = built(tmp_path / "none", results, [replace(PROBLEM, libraries=())])
    assert f"{words}none." in Page(site / "problems" / f"{some.slug}.html").text


def test_the_first_page_leads_to_all_boards_and_problems(site: Path) -> None:
    links = {each["href"] for each in Page(site / "index.html").all("a")}
    there = {path.relative_to(site).as_posix() for path in site.glob("boards/*.html")}
    assert there and there <= links
    assert f"problems/{PROBLEM.slug}.html" in links


def test_every_link_leads_somewhere_in_the_site(site: Path) -> None:
    known = {page.path: set(page.ids) for page in pages(site)}
    for page in pages(site):
        for tag, name in (("a", "href"), ("link", "href"), ("script", "src")):
            for attributes in page.all(tag):
                address = attributes[name]
                if tag == "link" and address == "data:,":
                    continue
                parts = urlsplit(address)
                assert not parts.scheme and not parts.netloc, address
                target = (
                    (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
                )
                assert target.is_file(), address
                if parts.fragment:
                    assert parts.fragment in known[target], address


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in pages(site):
        policy = page.all("meta")[1]
        assert policy["http-equiv"] == "Content-Security-Policy"
        assert policy["content"].startswith("default-src 'none'; style-src 'self'")
        assert not {"img", "iframe", "object", "embed", "style", "base"} & {
            t for t, _ in page.elements
        }
        for _, attributes in page.elements:
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
    for path in (site / "style.css", site / "script.js"):
        text = path.read_text(encoding="utf-8")
        assert "http" not in text and "url(" not in text and "@import" not in text


def test_pages_are_accessible(site: Path) -> None:
    for page in pages(site):
        assert page.all("html") == [{"lang": "en"}]
        tags = [tag for tag, _ in page.elements]
        assert [tags.count(each) for each in ("main", "header", "footer", "h1", "title")][:4] == [
            1
        ] * 4
        levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h[1-6]", tag)]
        assert levels[0] == 1 and all(b <= a + 1 for a, b in pairwise(levels)), levels
        assert len(page.ids) == len(set(page.ids))
        labelled = {each["for"] for each in page.all("label")}
        assert {each["id"] for each in page.all("input")} <= labelled
        assert all("scope" in each for each in page.all("th"))
        for image in page.all("svg"):
            named = image.get("aria-labelledby", "").split()
            assert image.get("aria-hidden") == "true" or (named and set(named) <= set(page.ids))
        for tag, attributes in page.elements:
            if "scroll" in attributes.get("class", "").split():
                assert tag == "div" and attributes["tabindex"] == "0" and attributes["aria-label"]
        assert "#main" in [each.get("href") for each in page.all("a")][:1]
        for name in ("aria-labelledby", "aria-describedby"):
            for _, attributes in page.elements:
                assert set(attributes.get(name, "").split()) <= set(page.ids)


def test_a_long_board_has_several_pages_and_entries_for_its_top(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boards_module, "PAGE_ROWS", 2)
    monkeypatch.setattr(boards_module, "ENTRY_PLACES", 3)
    site = built(tmp_path / "out", some_results())
    gpu = [Page(path) for path in sorted(site.glob("boards/*-cuda-*.html"))]
    assert len(gpu) == 3
    assert sum(page.source.count('class="right rank"') for page in gpu) == 5
    assert len(list(site.glob("entries/*.html"))) == 3 + 1
    assert all(len(page.all("nav")) == 3 for page in gpu)


def test_an_empty_store_makes_a_site(tmp_path: Path) -> None:
    page = Page(built(tmp_path / "out", []) / "index.html")
    assert "No accepted results yet." in page.text


def test_the_same_results_make_the_same_bytes(site: Path, tmp_path: Path) -> None:
    results = some_results()
    one, other = (built(tmp_path / name, results) for name in ("one", "other"))
    files = {path.relative_to(one): path.read_bytes() for path in one.rglob("*") if path.is_file()}
    assert files == {
        path.relative_to(other): path.read_bytes() for path in other.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("vector-add", "vector-add"),
        ("../../etc", "etc"),
        ("CON\0", "con"),
        ("\u202e", ""),
        ("é/x", "x"),
    ],
)
def test_slugs_hold_only_letters_digits_and_hyphens(text: str, name: str) -> None:
    assert slug(text) == name


@pytest.mark.parametrize(
    ("page", "places"),
    [
        (0, ["1–10", "11–20", "21–30", "…", "91–95"]),
        (5, ["1–10", "…", "31–40", "41–50", "51–60", "61–70", "71–80", "…", "91–95"]),
        (9, ["1–10", "…", "71–80", "81–90", "91–95"]),
    ],
)
def test_a_page_leads_to_the_first_the_last_and_the_next(page: int, places: list[str]) -> None:
    links = boards_module.page_links("x", 95, 10, page)
    assert [each.places for each in links] == places
    files = [each.file for each in links if each.file]
    assert len(files) == len([each for each in places if each != "…"]) - 1
    assert ("x.html" in files) == (page != 0)
