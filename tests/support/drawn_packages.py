"""The package csr, whose inputs its author draws, with another function that draws them."""

import shutil
from pathlib import Path

CSR = Path(__file__).parent / "author_packages/csr"


def csr_that_draws(folder: Path, definition: str) -> Path:
    """Make ``folder`` the package with this ``definition`` of ``draw``; its ``reference.py``."""
    shutil.copytree(CSR, folder)
    file = folder / "reference.py"
    head, _, tail = file.read_text().partition("def draw")
    file.write_text(f"{head}{definition}\n\ndef _sums{tail.partition('def _sums')[2]}")
    return file
