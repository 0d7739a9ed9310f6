"""Tensara: ``def.py`` with a class derived from ``Problem``, and ``problem.md`` with a title."""

import re
from pathlib import Path

from harness.formats.base import Source, slug_of, source_file, text_of, title_of

FILE = "def.py"
_CLASS = re.compile(r"^class[ \t]+\w+[ \t]*\([ \t]*(?:\w+\.)?Problem[ \t]*[,)]", re.MULTILINE)
_TITLE = re.compile(r"""^title[ \t]*:[ \t]*["']?([^"'\n]{1,100})""", re.MULTILINE)


class Tensara:
    """Folders with a definition."""

    name = "tensara"

    def detect(self, path: Path) -> Path | None:
        """``def.py``, or a folder with one."""
        file = path / FILE if path.is_dir() else path
        return file if file.name == FILE and _CLASS.search(text_of(file)) else None

    def load(self, path: Path) -> Source:
        """The file alone."""
        folder = path.absolute().parent
        title = _TITLE.search(text_of(folder / "problem.md"))
        return Source(
            format=self.name,
            path=path,
            slug=slug_of(self.name, folder.name),
            title=title_of(title[1] if title else folder.name),
            entry="solution",
            files=(source_file(path, FILE),),
        )
