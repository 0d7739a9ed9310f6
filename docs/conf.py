"""Sphinx makes a site of these pages (`make docs`): each folder is a part, each page is listed."""

import os
import re
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

PARTS = {
    "tutorials": ("Tutorials", ["tutorial", "writing-problems"]),
    "how-to": ("How-to guides", ["writing-solutions"]),
    "reference": ("Reference", ["problem-format", "languages", "result"]),
    "explanation": ("Explanation", ["architecture", "measurement", "tolerance", "threat-model"]),
    "data": ("Data", ["/field-report"]),
}
"""By folder: its heading in the navigation, and its first pages; the others follow by name. Pages
of another folder begin with a slash."""

DOCS = Path(__file__).resolve().parent
_LINK = re.compile(r"(?<=\]\()(\.\./[^)#\s]+)")

project = "kernel-harness"
html_title = project
html_theme = "furo"
html_show_copyright = False
html_copy_source = False
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 6
myst_url_schemes = {
    **dict.fromkeys(("http", "https", "mailto")),
    "beside": {"url": "{{path}}#{{fragment}}"},  # a file of the repository, from the built page
}
html_math_renderer = "mathml"  # MathJax would be loaded from elsewhere when a page is shown


def setup(app: Sphinx) -> None:
    """Add the navigation, links into the repository, and formulas."""
    app.connect("source-read", _add_navigation)
    app.connect("source-read", _link_to_repository)
    app.add_html_math_renderer("mathml", (_inline_math, None), (_block_math, None))


_PART = """
```{{toctree}}
:caption: {caption}
:hidden:
:glob:

{pages}
```
"""


def _add_navigation(_app: Sphinx, name: str, source: list[str]) -> None:
    if name == "index":
        for folder, (caption, first) in PARTS.items():
            named = [each if each.startswith("/") else f"{folder}/{each}" for each in first]
            pages = "\n".join([*named, f"{folder}/*"])
            source[0] += _PART.format(caption=caption, pages=pages)


def _link_to_repository(app: Sphinx, name: str, source: list[str]) -> None:
    """Have links that leave docs/ lead to the repository: on GitHub if that builds the site."""
    page = DOCS / name
    repository = os.environ.get("GITHUB_REPOSITORY")

    def address(link: re.Match[str]) -> str:
        target = (page.parent / link[1]).resolve()
        if target.is_relative_to(DOCS) or not target.exists():
            return link[1]
        if repository:
            return f"https://github.com/{repository}/blob/HEAD/{target.relative_to(DOCS.parent)}"
        return f"beside:{os.path.relpath(target, (Path(app.outdir) / name).parent)}"

    source[0] = _LINK.sub(address, source[0])


def _inline_math(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _block_math(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(convert(node.astext(), display="block"))
    raise nodes.SkipNode
