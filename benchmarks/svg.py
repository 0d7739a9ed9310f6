"""Just enough SVG for the plots in docs/: the same data give the same file, byte for byte."""

from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 50, 60


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
