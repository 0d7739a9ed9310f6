"""The plots in docs are made of the data in docs, and these are what the pages say."""

import json
import math
import re
import statistics
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import plots
from harness.site.svg import Drawing, Scale

ROOT = Path(__file__).parents[2]
BENCHMARKS = (ROOT / "docs/data/benchmarks.md").read_text(encoding="utf-8")
FUSION = (ROOT / "docs/explanation/fusion.md").read_text(encoding="utf-8")
LADDER = (ROOT / "docs/data/accuracy-h100.txt").read_text(encoding="utf-8")


def test_the_plots_are_those_of_the_data(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.plots", tmp_path]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    made = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    there = {p.name: p.read_text(encoding="utf-8") for p in (ROOT / "docs/data/plots").iterdir()}
    assert made == there, "run python -m benchmarks.plots"
    assert len(made) >= 2


@pytest.mark.parametrize("path", sorted(plots.PLOTS.glob("*.svg")), ids=lambda path: path.name)
def test_a_plot_is_xml_and_shown_on_a_page(path: Path) -> None:
    ElementTree.parse(path)
    assert f"](plots/{path.name})" in BENCHMARKS or f"](../data/plots/{path.name})" in FUSION


@pytest.mark.parametrize("path", sorted(plots.DATA.glob("*.json")), ids=lambda path: path.name)
def test_data_say_when_and_where_they_were_taken(path: Path) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["what"] in {*plots.KINDS, *plots.TABLES}
    assert data["card"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", data["date"])


def _section(heading: str) -> str:
    return BENCHMARKS.split(f"### {heading}")[1].split("\n### ")[0]


def _cells(text: str) -> list[list[str]]:
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip().replace("−", "-") for cell in row] for row in rows[1:]]


def test_the_accuracy_data_are_the_table() -> None:
    data = json.loads((plots.DATA / "accuracy-h100.json").read_text(encoding="utf-8"))
    table = [
        (c[0], int(c[1]), *(float(cell.split()[0]) for cell in c[2:7]), float(c[7].rstrip(" %")))
        for c in _cells(LADDER)
    ]
    clocks = ("cupti_s", "graph_s", "ours_s", "events_s", "do_bench_s")
    assert table == [
        (
            row["kernel"],
            row["calls"],
            *(pytest.approx(row[clock] * 1e6, abs=0.006) for clock in clocks),
            pytest.approx(100 * (row["high_s"] / row["ours_s"] - 1), abs=0.051),
        )
        for row in data["rows"]
    ]


def test_the_rungs_on_the_page_are_of_the_table() -> None:
    shown = _cells(_section("Accuracy: the ladder"))
    assert shown
    assert all(row in _cells(LADDER) for row in shown)


def test_the_repeatability_data_are_the_table() -> None:
    data = json.loads((plots.DATA / "repeat-h100.json").read_text(encoding="utf-8"))
    table = _cells(_section("Repeatability"))
    assert sorted(row[0] for row in table) == sorted(data["scores"])
    for name, ranked, half, spread in table:
        grades = data["scores"][name]
        assert ranked.startswith(f"{sum(bool(g['ranked']) for g in grades)} of {len(grades)}")
        halves = [100 * (grade["high"] / grade["value"] - 1) for grade in grades]
        assert statistics.median(halves) == pytest.approx(float(half.strip("± %")), abs=0.006)
        logs = [100 * math.log(grade["value"]) for grade in grades]
        assert statistics.stdev(logs) == pytest.approx(float(spread.strip(" %")), abs=0.006)


def test_all_clocks_of_a_ladder_are_drawn() -> None:
    row = {
        "kernel": "spin <2 µs>", "cupti_s": 2e-6, "ours_s": 2.1e-6, "low_s": 2e-6, "high_s": 2.2e-6,
        "events_s": 5e-6, "do_bench_s": 4e-6,
    }  # fmt: skip
    lost = {"kernel": "lost", "ours_s": 1e-6, "low_s": 1e-6, "high_s": 1e-6, "error": "no CUPTI"}
    data = {"what": "accuracy", "card": "a & b", "date": "2026-01-01", "rows": [row, lost]}
    text = plots.accuracy(data)
    ElementTree.fromstring(text)
    for name in ("the judge", "CUDA events", "do_bench", "spin &lt;2 µs&gt;: +100.0%"):
        assert name in text
    assert "lost" not in text


def test_what_bench_writes_of_repeats_is_drawn() -> None:
    grades = [{"value": v, "low": v * 0.99, "high": v * 1.01, "ranked": True} for v in (1.0, 1.02)]
    data = {"card": "c", "date": "2026-01-01", "scores": {"a/b": grades, "never accepted": []}}
    text = plots.repeat(data)
    ElementTree.fromstring(text)
    assert text.count("a/b: ") == 2
    assert "never" not in text


def test_axes() -> None:
    linear = Scale(-1.0, 1.0, 0.0, 100.0)
    assert [linear(value) for value in (-1.0, 0.0, 1.0, 5.0)] == [0.0, 50.0, 100.0, 100.0]
    assert 4 <= len(list(linear.ticks(8))) <= 12
    log = Scale(1.0, 100.0, 0.0, 100.0, log=True)
    assert log(10.0) == pytest.approx(50.0)
    assert list(log.ticks(8)) == [1.0, 10.0, 100.0]


def test_text_is_escaped() -> None:
    page = Drawing("key", 10, 10, "<title> & more", "<b>")
    page.text(1, 1, "<title> & more")
    for text in (page.svg(), page.file(".key { fill: red; }")):
        ElementTree.fromstring(text)
        assert "<title> &" not in text
