"""The tables of docs/explanation/fusion.md, from the data in docs/data."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks import ROOT
from benchmarks.fusion.rows import ratio
from benchmarks.fusion.ways import UNFUSED, WAYS
from harness.text import numbers

DATA = ROOT / "docs/data"
PAGE = ROOT / "docs/explanation/fusion.md"
NOTHING = "Not measured yet."

Data = Mapping[str, Any]

_BLOCK = re.compile(r"(?<=<!-- measured -->\n).*?(?=<!-- end of measured -->)", re.DOTALL)
_HEAD = "| shape | way | launches | DRAM read | written | predicted | measured |"


def made() -> str:
    """The page as the data in docs/data make it."""
    read = {file.stem: json.loads(file.read_text("utf-8")) for file in DATA.glob("*.json")}
    found = {stem: data for stem, data in read.items() if data["what"] == "fusion"}
    return with_tables(PAGE.read_text(encoding="utf-8"), found)


def with_tables(text: str, found: Mapping[str, Data]) -> str:
    """The page's ``text`` with the tables of the data ``found``, by the name of their plot.

    Raises:
        ValueError: there is no one place for them.
    """
    if len(_BLOCK.findall(text)) != 1:
        raise ValueError("the page has no one place between its comments for what was measured")
    cards = sorted(found.items(), key=lambda item: (item[1]["date"], item[0]), reverse=True)
    lines = [line for stem, data in cards for line in _card(stem, data)] or [NOTHING]
    block = "\n".join(lines).strip() + "\n"
    return _BLOCK.sub(lambda _: block, text)


def _card(stem: str, data: Data) -> Iterator[str]:
    yield f"## {data['card']}"
    yield ""
    versions = {"driver": "driver", "torch": "PyTorch", "triton": "Triton"}
    facts = [data["date"], *(f"{shown} {data[name]}" for name, shown in versions.items())]
    yield f"{', '.join(facts)}.{_ceilings(data)}"
    yield ""
    yield f"![Gains predicted and measured on the {data['card']}](../data/plots/{stem}.svg)"
    yield ""
    for row in data["problems"]:
        yield from _problem(row)


def _ceilings(data: Data) -> str:
    if data["bandwidth"] is None:
        return ""
    peaks = {(row["dtype"], row["peak"]) for row in data["problems"] if row["peak"] is not None}
    rates = [f"{dtype} {numbers.flop_rate(peak, 1.0)}" for dtype, peak in sorted(peaks)]
    measured = ", ".join([numbers.byte_rate(data["bandwidth"], 1.0), *rates])
    return f" The roofline: {measured}."


def _problem(row: Data) -> Iterator[str]:
    yield f"### {row['problem']}, {row['dtype']}"
    yield ""
    files = [f"{way}: {_link(row['ways'][way]['file'])}" for way in WAYS]
    yield f"{'; '.join(files)}."
    yield ""
    yield _HEAD
    yield "|---|---|---|---|---|---|---|"
    there = [way for way in WAYS if row["ways"][way]["file"] is not None]
    for number, shape in enumerate(row["shapes"]):
        for way in there:
            of = row["ways"][way]["shapes"][number]
            name = shape["spec"].replace(",", ", ") if way == UNFUSED else ""
            yield _line(name, way, of, shape["predicted"])
    for way in there[1:]:
        of = row["ways"][way]
        name = "geometric mean" if way == there[1] else ""
        yield _line(name, way, {"gain": of["gain"]}, row["predicted"])
    yield ""
    if notes := list(_notes(row)):
        yield f"{' '.join(notes)}"
        yield ""


def _line(name: str, way: str, of: Data, predicted: float | None) -> str:
    launches = of.get("launches")
    cells = [
        name,
        way,
        "" if launches is None else f"{launches:g}",
        *(_bytes(of.get(which)) for which in ("read_bytes", "written_bytes")),
    ]
    if way == UNFUSED:
        return f"| {' | '.join([*cells, '1', '1'])} |"
    shown = "" if predicted is None else f"{predicted:.2f}×"
    return f"| {' | '.join([*cells, shown, ratio(of['gain'])])} |"


def _bytes(count: float | None) -> str:
    return "" if count is None else numbers.bytes_(count)


def _link(file: str | None) -> str:
    return "no such file" if file is None else f"[{Path(file).name}](../../{file})"


def _notes(row: Data) -> Iterator[str]:
    """Why something is missing, and what is not ranked."""
    there = [way for way in WAYS if row["ways"][way]["file"] is not None]
    for way in there:
        of = row["ways"][way]
        if of["not_profiled"]:
            yield f"No bytes of {way}: {_said(of['not_profiled'])}."
        if way != UNFUSED and of["not_measured"]:
            yield f"No time of {way}: {_said(of['not_measured'])}."
        if of["gain"] is not None and not of["ranked"]:
            yield f"The time of {way} is not ranked."
    if row["not_predicted"] and not row["ways"][UNFUSED]["not_profiled"]:
        yield f"Nothing predicted: {_said(row['not_predicted'])}."


def _said(reason: str) -> str:
    """A reason as part of a line of Markdown."""
    return re.sub(r"[|<>\[\]`\s]+", " ", reason)[:200].strip().rstrip(".")
