"""What it costs to return an output instead of filling it: pairs of files that do the same."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import ROOT

_ENTRY = "def custom_kernel("

_IN_PLACE = {
    ("vector-add", "custom_kernel.py"): """import torch


def solution(x, y, z, n):
    torch.add(x, y, out=z)
""",
    ("softmax", "custom_kernel_triton.py"): """def solution(input_matrix, output_matrix, m, n):
    softmax[(m,)](input_matrix, output_matrix, n, BLOCK=128 if n <= 128 else 1024)
""",
}
"""By an example that returns its output: what to put in the place of its entry point."""


def pairs(folder: Path) -> list[tuple[Path, Path]]:
    """Files that return their outputs, each with one that fills them, written to ``folder``."""
    found = []
    for (slug, name), entry in _IN_PLACE.items():
        returning = ROOT / "problems" / slug / "examples/accepted" / name
        before, cut, _ = returning.read_text().partition(_ENTRY)
        if not cut:
            raise ValueError(f"an example has changed: {returning} has no {_ENTRY!r}")
        kept = "" if slug == "vector-add" else before
        filling = folder / slug / "someone" / "in_place.py"
        filling.parent.mkdir(parents=True)
        filling.write_text(kept + entry)
        found.append((returning, filling))
    return found


def returning(head_to_head: Callable[[Path, Path, Path], list[Any]]) -> dict[str, Any]:
    """Have each pair timed in turns (files and problem are given), and print how they compare."""
    told: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        for one, other in pairs(Path(place)):
            slug = other.parts[-3]
            found = head_to_head(one, other, ROOT / "problems" / slug)
            ratios = [each["ratio"] for each in found]
            told[slug] = ratios
            shown = ", ".join(f"{r['value']:.4f} [{r['low']:.4f}, {r['high']:.4f}]" for r in ratios)
            print(f"{slug}: the one that returns is {shown} times as fast")
    return {"ratios": told}
