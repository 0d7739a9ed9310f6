"""Seconds of the whole command."""

import itertools
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks import ROOT
from benchmarks.command import harness, until_first
from benchmarks.throughput import SLUG

SAMPLE = ROOT / "solutions" / SLUG / "samples" / "tiled.cu"


def latency(sample: Path) -> dict[str, Any]:
    """Seconds of the whole command: cold, a second file in the same call, and again."""
    slug = sample.resolve().parents[1].name
    folder = Path(tempfile.mkdtemp()) / slug / "someone"
    folder.mkdir(parents=True)
    files = []
    for number in range(5):
        file = folder / f"copy{number}.cu"
        text = sample.read_text()
        file.write_text(f"{text}\n// {time.time()} {number}: never built before\n")
        files.append(str(file))
    store = str(folder / "s.sqlite")
    common = ("--problem", slug, "--store", store)
    first, _ = harness("check", str(sample), "--problem", slug)
    verdict, one = until_first("submit", files[0], *common)
    three, results = harness("submit", *files[1:], *common)
    ends = [datetime.fromisoformat(r["created"]) for r in results]
    further = [(b - a).total_seconds() for a, b in itertools.pairwise(ends)]
    checked, _ = harness("check", files[0], "--problem", slug)
    print(f"check, the first command after boot: {first:.1f} s")
    print(f"submit, one CUDA file never built before: {one:.1f} s, its verdict after {verdict:.1f}")
    print(
        f"submit, four more: {three:.1f} s, the second and later "
        + ", ".join(f"{s:.1f}" for s in further)
        + " s each"
    )
    print(f"check, built before: {checked:.1f} s")
    return {
        "first_check_s": first,
        "new_file_s": one,
        "new_verdict_s": verdict,
        "further_files_s": further,
        "check_again_s": checked,
    }
