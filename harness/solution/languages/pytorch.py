"""Plain PyTorch: any other Python file with an entry point."""

from pathlib import Path

from harness.solution.languages import python
from harness.solution.languages.base import Language


class PyTorch(python.Python):
    """Python that calls PyTorch's own operations."""

    name = "pytorch"

    def claims(self, path: Path, text: str) -> bool:
        """A ``.py`` file that does not import triton."""
        return path.suffix == self.suffix and "triton" not in python.imported(text)


LANGUAGE: Language = PyTorch()
