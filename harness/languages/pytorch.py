"""PyTorch, eager or compiled: any other Python file with an entry point."""

from pathlib import Path

from harness.languages import python
from harness.languages.base import Language


class PyTorch(python.Python):
    """Python that calls PyTorch's own operations."""

    name = "pytorch"

    def claims(self, path: Path, text: str) -> bool:  # noqa: ARG002 (the Protocol's)
        """Any ``.py`` file that no other language has claimed."""
        return path.suffix == self.suffix


LANGUAGE: Language = PyTorch()
