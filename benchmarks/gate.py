"""What a batch takes beyond its kernels, by how its process begins it.

The judge continues a stopped process, which then launches a graph (`stopped`). Beside it are one
that is awake and waits for a word in memory (`awake`), and one that has launched its graph before,
stays stopped, and whose stream waits for a word on the card (`gated`).
"""

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.company import ALONE, companies_of
from harness.device.cards import visible_cards
from harness.device.workplace import host_plan
from harness.languages.build.toolchain import find_nvcc

SOURCE = Path(__file__).with_suffix(".cu")
OPTIONS = ("-O2", "-std=c++17", "-arch=native")
KERNELS, KERNEL_NS, ROUNDS = 50, 100_000, 100
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def gate() -> dict[str, Any]:
    """The quantiles of all three, in µs, alone and beside compilers on all spare processors.

    Raises:
        MachineError: there is no driver or no nvcc.
        SystemExit: there is no GPU, or the program does not build or run here.
    """
    buses = [card.bus for card in visible_cards()]
    if not buses:
        raise SystemExit("gate: a GPU is needed")
    seat = host_plan(buses[0], buses).seats[buses[0]]
    numbers = (KERNELS, KERNEL_NS, ROUNDS, seat.judge, seat.runner)
    rows: list[dict[str, Any]] = []
    print("company | batch | " + " | ".join(f"{part:.0%}" for part in QUANTILES))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        program = folder / "gate"
        nvcc = str(find_nvcc().path)
        _run([nvcc, *OPTIONS, "-o", str(program), str(SOURCE)])
        companies = companies_of([], folder, ())
        for company in (ALONE, "compilers"):
            with companies[company]():
                told = _run([str(program), *map(str, numbers)])
            for way, found in read(told).items():
                print(f"{company} | {way} | " + " | ".join(f"{each:.1f}" for each in found))
                rows.append({"company": company, "batch": way, "us": found})
    return {"kernels": KERNELS, "kernel_ns": KERNEL_NS, "quantiles": QUANTILES, "rows": rows}


def read(told: str) -> dict[str, list[float]]:
    """The quantiles of each line: the name of a way, and microseconds."""
    found = {}
    for line in told.splitlines():
        way, *us = line.split()
        found[way] = np.quantile([float(each) for each in us], QUANTILES).tolist()
    return found


def _run(words: Sequence[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{words[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout
