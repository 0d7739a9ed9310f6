"""Fills the templates of starting points and first problems; each is read and compiled once."""

from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FunctionLoader, StrictUndefined

TEMPLATES = Path(__file__).parent / "templates"


def rendered(template: Path, about: Mapping[str, object]) -> str:
    """The file ``template`` with ``about`` in it."""
    return _ENVIRONMENT.get_template(str(template)).render(about)


_ENVIRONMENT = Environment(
    loader=FunctionLoader(lambda path: Path(path).read_text(encoding="utf-8")),
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    undefined=StrictUndefined,
    autoescape=False,  # noqa: S701 - Markdown and Python, from names that are checked
)
