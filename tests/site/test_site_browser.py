"""The site in a real browser, from files: no complaint on the console, search, sorting, narrow."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

SECONDS = 90

PROBE = """
"use strict";
addEventListener("load", () => {
  const found = {
    wide: document.documentElement.scrollWidth,
    seen: document.documentElement.clientWidth,
    colour: getComputedStyle(document.body).backgroundColor,
  };
  const table = document.querySelector("table.entries");
  if (table) {
    const names = () => [...table.tBodies[0].rows]
      .filter((row) => !row.hidden)
      .map((row) => row.querySelector("th").firstChild.textContent);
    const button = (name) => [...table.querySelectorAll("thead button")]
      .find((each) => each.textContent.startsWith(name));
    button("Speed-up").click();
    found.ascending = names();
    found.sorted = button("Speed-up").parentElement.getAttribute("aria-sort");
    button("Speed-up").click();
    found.descending = names();
    button("Entry").click();
    found.byName = names();
    const input = document.querySelector("input[type=search]");
    input.value = "BEA kernel";
    input.dispatchEvent(new Event("input"));
    found.searched = names();
    found.count = document.querySelector(".count").textContent;
    found.height = input.getBoundingClientRect().height;
    const box = table.parentElement;
    found.scrolls = box.scrollWidth > box.clientWidth;
  }
  parent.postMessage(JSON.stringify(found), "*");
});
"""

FRAME = """<!doctype html><meta charset="utf-8"><title>Frame</title>
<iframe src="{page}" style="width:{width}px;height:800px;border:0"></iframe>
<pre id="found"></pre>
<script>addEventListener("message", (event) => {{
  document.getElementById("found").textContent = event.data;
}});</script>
"""


@pytest.fixture(scope="session")
def chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    pytest.skip("no chromium here")


def _run(chromium: str, page: Path, profile: Path, *options: str) -> tuple[str, list[str]]:
    """What the page has become, and what was said on the console."""
    command = [
        chromium,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--hide-scrollbars",
        f"--user-data-dir={profile}",
        "--enable-logging=stderr",
        "--window-size=1280,900",
        "--virtual-time-budget=3000",
        *options,
        "--dump-dom",
        page.as_uri(),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, check=True, encoding="utf-8"
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def _probed(
    chromium: str, site: Path, page: Path, folder: Path, width: int, *options: str
) -> dict[str, Any]:
    copy = folder / "copy"
    shutil.copytree(site, copy, dirs_exist_ok=True)
    (copy / "probe.js").write_text(PROBE, encoding="utf-8")
    probed = copy / page.relative_to(site)
    root = "../" * (len(page.relative_to(site).parts) - 1)
    text = probed.read_text(encoding="utf-8")
    script = f'<script src="{root}probe.js" defer></script></head>'
    probed.write_text(text.replace("</head>", script), encoding="utf-8")
    frame = folder / "frame.html"
    frame.write_text(FRAME.format(page=probed.as_uri(), width=width), encoding="utf-8")
    shown, complaints = _run(chromium, frame, folder / "profile", *options)
    assert complaints == []
    found = re.search(r'<pre id="found">(.*?)</pre>', shown, re.DOTALL)
    assert found is not None and found[1], shown[-2000:]
    values: dict[str, Any] = json.loads(html.unescape(found[1]))
    return values


def _pages(site: Path) -> dict[str, Path]:
    return {
        "index": site / "index.html",
        "board": next(iter(sorted(site.glob("boards/*-cuda-*.html")))),
        "entry": next(iter(sorted(site.glob("entries/*.html")))),
        "problem": next(iter(sorted(site.glob("problems/*.html")))),
    }


@pytest.mark.parametrize("kind", ["index", "board", "entry", "problem"])
def test_no_page_is_wider_than_a_phone(
    chromium: str, site: Path, tmp_path: Path, kind: str
) -> None:
    found = _probed(chromium, site, _pages(site)[kind], tmp_path, 375)
    assert found["wide"] <= found["seen"] == 375
    if kind == "board":
        assert found["scrolls"]
        assert found["height"] >= 44


def test_entries_are_sorted_and_searched(chromium: str, site: Path, tmp_path: Path) -> None:
    found = _probed(chromium, site, _pages(site)["board"], tmp_path, 1200)
    assert found["ascending"][-1] == "kernel-dot"
    assert found["descending"] == [*reversed(found["ascending"])]
    assert found["sorted"] == "ascending"
    assert found["byName"] == sorted(found["byName"]) and len(found["byName"]) == 5
    assert found["searched"] == ["kernel-bea"]
    assert found["count"] == "1 of 5 entries"


def test_pages_follow_the_light_and_dark_scheme(chromium: str, site: Path, tmp_path: Path) -> None:
    colours = [
        _probed(
            chromium,
            site,
            site / "index.html",
            tmp_path,
            800,
            f"--blink-settings=preferredColorScheme={scheme}",
        )["colour"]
        for scheme in (0, 1)
    ]
    assert colours == ["rgb(18, 20, 22)", "rgb(251, 251, 250)"]


def test_a_page_opened_by_itself_says_nothing_on_the_console(
    chromium: str, site: Path, tmp_path: Path
) -> None:
    shown, complaints = _run(chromium, _pages(site)["board"], tmp_path / "profile")
    assert complaints == []
    assert shown.count("<button") == 7
    assert 'role="search"' in shown and "hidden" not in shown.split("<form", 1)[1].split(">", 1)[0]
