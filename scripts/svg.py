"""Just enough SVG for the plots in docs/: the same data give the same file, byte for byte."""

import math
from collections.abc import Iterator
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 50, 60


class Axis:
    """From values to places on the page; ``log`` for decades."""

    def __init__(
        self, low: float, high: float, start: float, end: float, *, log: bool = False
    ) -> None:
        self.low, self.high, self.log = low, high, log
        self._start, self._end = start, end

    def __call__(self, value: float) -> float:
        """The place of ``value``; what lies beyond an end is put there."""
        value = min(max(value, self.low), self.high)
        if self.log:
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return self._start + part * (self._end - self._start)

    def ticks(self) -> Iterator[float]:
        """Where lines are drawn: at powers of ten, or about eight round steps."""
        if self.log:
            exponent = math.ceil(math.log10(self.low))
            while 10.0**exponent <= self.high * 1.0001:
                yield 10.0**exponent
                exponent += 1
            return
        raw = (self.high - self.low) / 8
        unit = 10.0 ** math.floor(math.log10(raw))
        step = next(unit * f for f in (1, 2, 5, 10) if unit * f >= raw * 0.999)
        number = math.ceil(self.low / step - 1e-9)
        while number * step <= self.high + 1e-9 * step:
            yield number * step
            number += 1


class Page:
    """Shapes on a white page, and the file that they make."""

    def __init__(self, title: str, height: int = HEIGHT) -> None:
        self.height = height
        self._parts: list[str] = []
        self.rectangle(0, 0, WIDTH, height, "#ffffff")
        self.text(LEFT, 24, title, size=15)

    def rectangle(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """A filled rectangle; its upper left corner is at ``x``, ``y``."""
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="{colour}"/>'
        )

    def line(
        self, x1: float, y1: float, x2: float, y2: float, colour: str = "#cccccc", width: float = 1
    ) -> None:
        """A straight line."""
        self._parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width:g}"/>'
        )

    def dot(self, x: float, y: float, colour: str, tip: str = "") -> None:
        """A point; ``tip`` is shown by a browser whose pointer is on it."""
        self._parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}">'
            f"<title>{escape(tip)}</title></circle>"
        )

    def text(self, x: float, y: float, text: str, *, size: int = 12, anchor: str = "start") -> None:
        """Text whose base line begins, ends or is centred at ``x``, ``y``."""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-family="sans-serif" font-size="{size}" '
            f'text-anchor="{anchor}" fill="#222222">{escape(text)}</text>'
        )

    def svg(self) -> str:
        """The file."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{self.height}" '
            f'viewBox="0 0 {WIDTH} {self.height}">'
        )
        return "\n".join([head, *self._parts, "</svg>\n"])
