"""What setuptools does beside copying packages: problems go along, as ``harness/problems``.

Named in ``pyproject.toml``; an editable install uses those of the checkout.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from setuptools.command.build_py import build_py

PROBLEMS = Path("problems")
SHIPPED = Path("harness/problems")


class BuildPy(build_py):
    """``build_py`` with the problems."""

    def run(self) -> None:
        """Copy packages, then problems."""
        super().run()
        if not self.editable_mode:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(
                PROBLEMS, Path(self.build_lib, SHIPPED), ignore=ignored, dirs_exist_ok=True
            )

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """The files that are written, for ``--record``."""
        outputs: list[str] = super().get_outputs(include_bytecode)
        return outputs + [str(Path(self.build_lib, SHIPPED, name)) for name in _names()]


def _names() -> Iterator[Path]:
    for path in sorted(PROBLEMS.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(PROBLEMS)
