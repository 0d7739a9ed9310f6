"""Names of those who are ranked are text on every page, whatever they hold."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from support.corpus import rest_in_corpus
from support.hostile_words import ALL, LINES, accepted, complaint, filled, hostile_problem
from support.site_samples import ROOT, Page, built, pages, shapes

from harness.problem.format.load import load_problem
from harness.records.measurement import Measurement
from harness.records.result import Result
from harness.site.charts import roofline_chart, samples_chart, speedup_chart
from harness.site.mathml import mathml
from harness.site.statement import statement_html

PROBLEMS = list(ROOT.glob("problems/*/problem.md"))
NAMES = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "</title></script></svg></code></pre><iframe src=//evil>",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt;&#60;b&#62;",
    "]]><!-- -->",
    "../../../etc/passwd",
    "\u202egnp.exe\x1b[31m\0",
    ALL,
    LINES,
)


def _site(out: Path, words: str) -> Path:
    words = words.encode("utf-8", "backslashreplace").decode()  # as a record keeps them
    one = accepted(words)
    ranked = one.score.model_copy(update={"ranked": True, "unranked_reason": ""})
    changes = {
        "id": words + "2",
        "created": one.created + timedelta(minutes=1),
        "solution": one.solution.model_copy(update={"author": words + "2", "hash": words + "2"}),
        "measurements": shapes(2.0),
    }
    other = one.model_copy(update={"score": ranked, **changes})
    return built(out, [one, other], [hostile_problem(words)])


@pytest.fixture(scope="module")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> list[list[tuple[str, tuple[str, ...]]]]:
    return _structures(_site(tmp_path_factory.mktemp("harmless") / "out", "x"))


def _structures(site: Path) -> list[list[tuple[str, tuple[str, ...]]]]:
    there = [page for page in pages(site) if page.path.parent.name != "problems"]
    return sorted(page.structure for page in there)


@pytest.mark.parametrize("words", rest_in_corpus(NAMES, always=3), ids=range(len(NAMES)))
def test_no_element_and_no_attribute_comes_from_a_name(
    words: str, tmp_path: Path, harmless: list[list[tuple[str, tuple[str, ...]]]]
) -> None:
    site = _site(tmp_path / "out", words)
    found = _structures(site)
    assert found == harmless
    for page in pages(site):
        assert not complaint(page.text)
        assert not complaint(page.source)
        for _, attributes in page.elements:
            assert not [name for name in attributes if name.startswith("on")]
            for name in ("href", "src"):
                address = attributes.get(name, "")
                of_statement = page.path.parent.name == "problems" and address.startswith("http")
                assert address == "data:," or ":" not in address or of_statement
    for path in site.rglob("*"):
        assert path.name.isascii() and path.resolve().is_relative_to(site.resolve())


LIVE = {"script", "img", "iframe", "style", "link", "object", "form", "input", "base", "meta"}


@pytest.mark.parametrize(
    "text",
    [
        *NAMES,
        "[a](javascript:alert(1)) <javascript:alert(1)> [b](data:text/html,x) [c](//evil) [d](../)",
        '[a](http://e.org/" onclick="alert(1)) ![i](http://e.org/x.png)',
        '```js" onclick="alert(1)\n</script><script>\n```',
        r"$\text{<img src=x onerror=alert(1)>}$ $\href{javascript:alert(1)}{x}$",
        r"$$\style{background:url(x)}{x} \class{a}{b} \unicode{60}$$",
        "&#60;script&#62;alert(1)&#60;/script&#62; &#x202e; &#27;[31m",
        "<div onclick=alert(1)>\n\n<!-- -->\n\n<?php ?>",
    ],
)
def test_a_statement_brings_no_markup_of_its_own(text: str, tmp_path: Path) -> None:
    for source in (text, f"| a |\n|---|\n| {text} |", f"- > {text}", f"## {text}"):
        path = tmp_path / "page.html"
        path.write_text(statement_html(source), encoding="utf-8")
        page = Page(path)
        assert not LIVE & {tag for tag, _ in page.elements}
        assert not complaint(page.text)
        for tag, attributes in page.elements:
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
            if "href" in attributes:
                assert tag == "a" and attributes["href"].startswith(("http://", "https://"))


@pytest.mark.parametrize("words", NAMES, ids=range(len(NAMES)))
def test_a_chart_shows_names_as_text(words: str, tmp_path: Path) -> None:
    measured = filled(Measurement, words, Measurement_sol_time_s=0.5)
    for chart in (speedup_chart, samples_chart, roofline_chart):
        drawn = chart([measured], words)
        assert drawn is not None
        path = tmp_path / "chart.html"
        path.write_text(drawn, encoding="utf-8")
        page = Page(path)
        allowed = {"svg", "title", "desc", "line", "rect", "circle", "path", "text"}
        assert {tag for tag, _ in page.elements} <= allowed
        assert not complaint(page.source)


@pytest.mark.parametrize("formula", [r"\frac{", r"\begin{cases} a", r"\left( x", "x" * 5000])
def test_a_formula_that_cannot_be_drawn_is_shown_as_it_is(formula: str) -> None:
    assert mathml(formula, display=False) == f'<code class="tex">{formula}</code>'


@pytest.mark.parametrize("slug", sorted(path.parent.name for path in PROBLEMS))
def test_every_formula_of_our_problems_is_drawn(slug: str) -> None:
    statement = load_problem(ROOT / "problems" / slug).statement
    drawn = statement_html(statement)
    assert 'class="tex"' not in drawn
    assert "<math" in drawn
    assert "\\" not in re.sub(r'alttext="[^"]*"|<code.*?</code>', "", drawn, flags=re.DOTALL)


def test_a_record_is_not_what_decides_the_size_of_a_page(tmp_path: Path) -> None:
    one = accepted("x")
    huge = one.measurements[0].model_copy(update={"samples_s": tuple(range(1, 100_001))})
    result: Result = one.model_copy(update={"measurements": (huge,) * 200})
    site = built(tmp_path / "out", [result], [])
    (entry,) = site.glob("entries/*.html")
    assert entry.stat().st_size < 1_000_000
