"""Colours that can be read, in both schemes: contrasts as WCAG 2.2 computes them."""

import re

import pytest

from harness.site.highlight import _CLASSES
from harness.site.pages import HERE

CSS = (HERE / "static/style.css").read_text(encoding="utf-8")
TEXT = [
    (front, back) for back in ("page", "surface", "sunken") for front in ("text", "muted", "accent")
] + [("notice-text", "notice"), *((front, "surface") for front in ("own", "base", "light"))]
CODE = [(front, "sunken") for front in ("muted", *sorted(set(re.findall(r"--(code-\w+)", CSS))))]
SHAPES = [(front, back) for back in ("page", "surface", "sunken") for front in ("own", "edge")]


def _schemes() -> dict[str, dict[str, str]]:
    light, dark = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)
    colours = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", each)) for each in (light, dark)]
    return dict(zip(("light", "dark"), colours, strict=True))


def _luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_formula_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=1e-3)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_shapes_stand_out(scheme: str) -> None:
    colours = _schemes()[scheme]
    for pairs, least in ((TEXT, 4.5), (CODE, 4.5), (SHAPES, 3.0)):
        for front, back in pairs:
            assert contrast(colours[front], colours[back]) >= least, (scheme, front, back)


def test_both_schemes_name_the_same_colours_and_rules_use_only_these() -> None:
    light, dark = _schemes().values()
    assert light.keys() == dark.keys()
    assert set(re.findall(r"var\(--([\w-]+)\)", CSS)) <= light.keys()
    rules = re.sub(r":root \{.*?\}", "", CSS, flags=re.DOTALL)
    assert not re.findall(r"#[0-9a-f]{3,8}\b", rules)


def test_code_has_a_colour_for_each_class_of_token() -> None:
    assert len(CODE) == 6
    for _, name in _CLASSES:
        assert re.search(rf"pre \.{name}\b[^}}]*color: var\(", CSS), name
