"""The page of an entry's machine code: file and instructions lead to each other, within bounds."""

from dataclasses import replace
from pathlib import Path

from support.site_samples import SASS, Page, built, lively_results

from harness.languages.build.machine_code import Instruction, Kernel


def test_file_and_instructions_lead_to_each_other(lively: Path) -> None:
    (path,) = lively.glob("sass/*.html")
    page, stem = Page(path), path.stem
    links = [each["href"] for each in page.all("a") if each["href"].startswith("#")]
    assert links == ["#main", "#i0", "#L3", "#L3"]
    assert {each.removeprefix("#") for each in links} <= set(page.ids)
    assert "0020 BRA `(.L_x_0)" in page.text
    entry = Page(lively / "entries" / f"{stem}.html")
    assert f"../sass/{stem}.html" in [each.get("href") for each in entry.all("a")]
    listing = (path.parent / f"{stem}.txt").read_text(encoding="utf-8")
    assert "add\n    3  0000  LDC R1, c[0x0][0x28]\n.L_x_0:\n" in listing


def test_there_is_none_without_the_code(tmp_path: Path) -> None:
    asked = {"ann-3": SASS}
    site = built(tmp_path / "site", lively_results(), code=False, machine_code=asked)
    assert not [*site.glob("sass")]


def test_a_long_one_is_cut_and_said_to_be(tmp_path: Path) -> None:
    line = Instruction(address="0010", text="<" * 400, line=2)
    kernels = tuple(Kernel(name=f"k{n}", instructions=(line,) * 90) for n in range(30))
    site = built(
        tmp_path / "site",
        lively_results(),
        sources={"ann-3": "<>&\n" * 20_000},
        machine_code={"ann-3": replace(SASS, kernels=kernels)},
        everything=True,
    )
    (path,) = site.glob("sass/*.html")
    page = Page(path)
    assert path.stat().st_size < 120_000
    assert "instructions shown" in page.text and "This is the beginning." in page.text
    (listing,) = site.glob("sass/*.txt")
    assert listing.read_text(encoding="utf-8").count("0010") == 2700
