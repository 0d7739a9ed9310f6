"""TeX formulas as a line of Unicode, for terminals: ``Cᵢⱼ = bⱼ + ∑ₚ₌₁ᵏ AᵢₚBₚⱼ``.

latex2mathml reads them; its tree is written out here. What it cannot read stays TeX.
"""

import html
import re
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element

_MAX_LENGTH = 4096
_SUBSCRIPTS = str.maketrans(
    "0123456789+-−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"
)
_SUPERSCRIPTS = str.maketrans(
    "0123456789+-−=()abcdefghijklmnoprstuvwxyzT", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᵀ"
)
_SPACED = frozenset("*=≠<>≤≥≪≫∈∉⊂⊆≈≡∼∝+−-·×±∓÷∣←→↦⟶⇒⇔∧∨∘⊙⊗⊕∗≔:")
_WORD = re.compile(r"[A-Za-z]{2}")
_LARGE = frozenset("∑∏∫⋃⋂")
_ACCENTS = {
    "^": "\u0302",
    "¯": "\u0304",
    "‾": "\u0304",
    "~": "\u0303",
    "˜": "\u0303",
    "˙": "\u0307",
}
_BRACES = {"\\{": "{", "\\}": "}", "\\|": "‖"}


def unicode_maths(formula: str) -> str:
    """``formula`` in Unicode, on one line; TeX if it cannot be read."""
    formula = " ".join(formula.split())
    try:
        if len(formula) > _MAX_LENGTH:
            return formula
        text = _text(convert_to_element(re.sub(r"(?<!\\)\\!", "", formula)))
    except Exception:  # the library raises its own, KeyError, IndexError, …: TeX is readable
        return formula
    shown = re.sub(r"\s+", " ", text).strip()
    return formula if not shown or "\\" in shown else shown  # a command that it does not know


def _text(element: Element) -> str:
    children = list(element)
    match element.tag:
        case "mi" | "mn" | "mo" | "mtext" | "ms":
            said = html.unescape(element.text or "")
            return _BRACES.get(said, said)
        case "mspace":
            return " " if not element.get("width", "").startswith("-") else ""
        case "mphantom":
            return ""
        case "msub" | "munder":
            return _text(children[0]) + _below(children[1])
        case "msup":
            return _text(children[0]) + _above(children[1])
        case "mover":
            base, mark = map(_text, children[:2])
            return base + (_ACCENTS[mark] if mark in _ACCENTS else _above(children[1]))
        case "msubsup" | "munderover":
            return _text(children[0]) + _below(children[1]) + _above(children[2])
        case "mfrac":
            return "/".join(_grouped(_text(each)) for each in children[:2])
        case "msqrt":
            return f"√{_grouped(_row(children))}"
        case "mroot":
            return f"{_above(children[1]).lstrip('^')}√{_grouped(_text(children[0]))}"
        case "mtable":
            return _table(children)
        case _:
            return _row(children)


def _row(children: list[Element]) -> str:
    """The texts of a row: spaces around operators between two operands, and beside words."""
    said = ""
    for number, child in enumerate(children):
        text = _text(child)
        if (
            child.tag == "mo"
            and text in _SPACED
            and said.strip()
            and said.rstrip()[-1] not in "([{,"
        ):
            said = f"{said.rstrip()} {text} "
        elif child.tag == "mo" and text in {",", ";"}:
            said += f"{text} "
        elif text[:1] in _LARGE:
            said += f"{text} " if said[-1:] in tuple("([{|") else f" {text} "
        elif child.tag == "mfrac" and not _ends(children[number + 1 :]):
            said += f" ({text}) "
        elif child.tag != "mtext" and _WORD.match(text) and children[number + 1 :]:
            opens = _text(children[number + 1])[:1] in tuple("([{")
            said += text if opens else f"{text} "
        else:
            said += text
    return said


def _ends(rest: list[Element]) -> bool:
    """Whether what stands before ``rest`` is not multiplied with it."""
    return not rest or (rest[0].tag == "mo" and _text(rest[0])[:1] in {*_SPACED, *",;.)]}"})


def _table(rows: list[Element]) -> str:
    """``x (x ≥ 0), y (x < 0)`` for two columns, as in a distinction of cases."""
    cells = [[_text(cell).strip() for cell in row] for row in rows]
    if all(len(row) == 2 for row in cells):
        return ", ".join(f"{what} ({when.rstrip(',.; ')})" for what, when in cells)
    return "; ".join(" ".join(row) for row in cells)


def _below(element: Element) -> str:
    return _script(_text(element), _SUBSCRIPTS, "_")


def _above(element: Element) -> str:
    return _script(_text(element), _SUPERSCRIPTS, "^")


def _script(text: str, letters: dict[int, int], mark: str) -> str:
    """``text`` in small letters where Unicode has all of them, else behind its ``mark``."""
    close = text.replace(" ", "")
    if all(ord(each) in letters for each in close):
        return close.translate(letters)
    return mark + (close if len(close) == 1 else f"({text.strip()})")


def _grouped(text: str) -> str:
    text = text.strip()
    return text if re.fullmatch(r"√?\w+|\([^()]*\)", text) else f"({text})"
