"""TeX formulas as MathML, which browsers show without a script or a font of ours.

latex2mathml translates. What it returns is looked through here, for it would let a formula bring
links and live tags with it: only elements and attributes of plain mathematics pass, text is text.
"""

import html
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import convert_to_element
from markupsafe import Markup

from harness.text.plain import plain

# fmt: off
_ELEMENTS = frozenset(
    {
        "math", "menclose", "mfenced", "mfrac", "mi", "mn", "mo", "mover", "mpadded",
        "mphantom", "mroot", "mrow", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup",
        "mtable", "mtd", "mtext", "mtr", "munder", "munderover",
    }
)
_ATTRIBUTES = frozenset(
    {
        "accent", "accentunder", "columnalign", "columnlines", "columnspacing", "depth",
        "display", "displaystyle", "fence", "form", "height", "linethickness", "lspace",
        "mathvariant", "maxsize", "minsize", "movablelimits", "notation", "rowspacing",
        "rspace", "scriptlevel", "separator", "stretchy", "symmetric", "voffset", "width",
        "xmlns",
    }
)
# fmt: on
_MAX_LENGTH = 4096
_SPACES = {"negativethinmathspace": "-0.167em"}  # the name is of an older MathML
_BRACES = {"\\{": "{", "\\}": "}", "\\|": "‖"}


def mathml(formula: str, *, display: bool) -> Markup:
    """``formula`` as a ``math`` element, or its source as ``code`` where it cannot be translated.

    ``display`` is for a formula on lines of its own.
    """
    shown = plain(" ".join(formula.split()))
    try:
        if len(formula) > _MAX_LENGTH:
            raise ValueError("too long for a formula")
        element = convert_to_element(formula, display="block" if display else "inline")
        element.set("alttext", shown)
        return Markup(tostring(_clean(element), encoding="unicode"))  # noqa: S704 - cleaned
    except Exception:  # the library raises its own, KeyError, IndexError, …: none stops a site
        return Markup('<code class="tex">{}</code>').format(shown)


def _clean(element: Element) -> Element:
    """A copy with nothing but mathematics in it.

    Raises:
        ValueError: something else is in it.
    """
    if element.tag not in _ELEMENTS:
        raise ValueError(f"no element of a formula: {element.tag}")
    attributes = {
        name: plain(_SPACES.get(value, value))
        for name, value in element.attrib.items()
        if name in _ATTRIBUTES or name == "alttext"
    }
    copy = Element(element.tag, attributes)
    copy.text = _text(element.text)
    copy.tail = _text(element.tail)
    copy.extend(_clean(child) for child in element)
    return copy


def _text(text: str | None) -> str:
    # Characters come as entities, for a browser to read them. \Bigl\{ keeps its backslash.
    characters = html.unescape(text or "")
    return plain(_BRACES.get(characters, characters))
