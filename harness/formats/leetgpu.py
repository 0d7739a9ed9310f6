"""LeetGPU: ``challenge.py`` with a class ``Challenge``, and ``core/challenge_base.py`` above it."""

import re
from pathlib import Path

from harness.formats.base import (
    Source,
    SourceFile,
    defines,
    slug_of,
    source_file,
    text_of,
    title_of,
)

FILE = "challenge.py"
BASE = Path("core", "challenge_base.py")
_ABOVE = 4
"""Folders up to which the base is looked for."""
_TITLE = re.compile(r"""^\s+name\s*=\s*["']([^"'\n]{1,100})["']""", re.MULTILINE)


class LeetGpu:
    """Folders with a challenge."""

    name = "leetgpu"

    def detect(self, path: Path) -> Path | None:
        """``challenge.py``, or a folder with one."""
        file = path / FILE if path.is_dir() else path
        return file if file.name == FILE and defines(text_of(file), "Challenge") else None

    def load(self, path: Path) -> Source:
        """The file and, where there is one, the base class of all challenges."""
        here = path.absolute()
        base = next((f / BASE for f in here.parents[:_ABOVE] if (f / BASE).is_file()), None)
        files: list[SourceFile] = [source_file(path, FILE)]
        if base is not None:
            files.append(source_file(base, str(BASE)))
        title = _TITLE.search(files[0].text.decode("utf-8", "replace"))
        return Source(
            format=self.name,
            path=path,
            slug=slug_of(self.name, here.parent.name),
            title=title_of(title[1] if title else here.parent.name),
            entry="solve",
            files=tuple(files),
        )
