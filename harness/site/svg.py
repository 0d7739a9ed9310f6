"""Just enough SVG for charts: shapes with classes, which a style sheet colours.

A drawing is an element of a page of the site, or a file of its own with its style inside. The same
data give the same text. All text is escaped here, whoever it comes from.
"""

import math
from collections.abc import Iterator

from markupsafe import Markup

from harness.text.plain import plain


class Scale:
    """From values to places; ``log`` for decades. What lies beyond an end is put there."""

    def __init__(
        self, low: float, high: float, start: float, end: float, *, log: bool = False
    ) -> None:
        if not low < high or (log and low <= 0):
            raise ValueError(f"no scale from {low} to {high}")
        self.low, self.high, self._log = low, high, log
        self._start, self._end = start, end

    def __call__(self, value: float) -> float:
        """The place of ``value``."""
        value = min(max(value, self.low), self.high)
        if self._log:
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return self._start + part * (self._end - self._start)

    def ticks(self, most: int = 5) -> Iterator[float]:
        """Where lines are drawn: at powers of ten, or at up to about ``most`` round values."""
        if self._log:
            exponents = range(
                math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1
            )
            every = max(1, math.ceil(len(exponents) / most))
            yield from (10.0**exponent for exponent in exponents[::every])
            return
        raw = (self.high - self.low) / most
        unit = 10.0 ** math.floor(math.log10(raw))
        step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= raw * 0.999)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        yield from (number * step for number in range(first, last + 1))


class Drawing:
    """An image with a title and a description for those who do not see it."""

    def __init__(self, key: str, width: float, height: float, title: str, description: str) -> None:
        self._size = _n(width), _n(height)
        self._names = Markup('<title id="{k}-t">{}</title><desc id="{k}-d">{}</desc>').format(
            plain(title), plain(description), k=key
        )
        self._key = key
        self._parts: list[Markup] = []

    def _add(self, element: str, *values: float | str) -> None:
        shown = (value if isinstance(value, str) else _n(value) for value in values)
        self._parts.append(Markup(element).format(*shown))  # noqa: S704 - an element from below

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """A straight line."""
        self._add('<line x1="{}" y1="{}" x2="{}" y2="{}" class="{}"/>', x1, y1, x2, y2, kind)

    def bar(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        """A rectangle; its upper left corner is at ``x``, ``y``."""
        rectangle = '<rect x="{}" y="{}" width="{}" height="{}" class="{}"/>'
        self._add(rectangle, x, y, max(width, 0.5), height, kind)

    def dot(self, x: float, y: float, radius: float, kind: str, tip: str = "") -> None:
        """A circle; ``tip`` is shown by a browser whose pointer is on it."""
        inside = Markup("<title>{}</title>").format(plain(tip)) if tip else ""
        self._add(
            '<circle cx="{}" cy="{}" r="{}" class="{}">{}</circle>', x, y, radius, kind, inside
        )

    def diamond(self, x: float, y: float, size: float, kind: str) -> None:
        """A square on its corner."""
        path = '<path d="M{0} {1}l{2} {2}l-{2} {2}l-{2} -{2}z" class="{3}"/>'
        self._add(path, x, y - size, size, kind)

    def text(self, x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> None:
        """Text whose base line begins, ends or is centred at ``x``, ``y``."""
        element = '<text x="{}" y="{}" text-anchor="{}" class="{}">{}</text>'
        self._add(element, x, y, anchor, kind, plain(text))

    def svg(self) -> Markup:
        """The element, for a page with a style sheet."""
        return self._head() + self._names + Markup("").join(self._parts) + Markup("</svg>")

    def file(self, style: str) -> str:
        """The same as the text of a file, coloured by the rules of ``style``."""
        root = Markup('xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" ')
        head = self._head(root.format(*self._size))
        styled = Markup("<style>{}</style>").format(Markup(style))  # noqa: S704 - our own rules
        return "\n".join([head + self._names, styled, *self._parts, "</svg>\n"])

    def _head(self, more: str = "") -> Markup:
        return Markup(
            '<svg {}class="chart" viewBox="0 0 {} {}" role="img" aria-labelledby="{k}-t {k}-d">'
        ).format(more, *self._size, k=self._key)


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
