"""KernelBench: one file with ``Model``, ``get_inputs`` and ``get_init_inputs``.

MultiKernelBench and others keep the same contract.
"""

from pathlib import Path

from harness.formats.base import Source, defines, slug_of, source_file, text_of, title_of
from harness.formats.versions import of_first

NAMES = ("Model", "get_inputs", "get_init_inputs")


class KernelBench:
    """Files by the names that they define."""

    name = "kernelbench"

    def detect(self, path: Path) -> Path | None:
        """A ``.py`` file that defines the three names at its top level."""
        return path if path.suffix == ".py" and defines(text_of(path), *NAMES) else None

    def load(self, path: Path) -> Source:
        """The file alone. One of v0 says so in its slug: v0.1 has others of the same name."""
        file = source_file(path, "problem.py")
        first = ("v0",) if of_first(file.text) else ()
        return Source(
            format=self.name,
            path=path,
            slug=slug_of(self.name, *first, path.absolute().parent.name, path.stem),
            title=title_of(path.stem),
            entry="ModelNew",
            files=(file,),
        )
