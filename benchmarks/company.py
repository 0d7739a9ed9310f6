"""What the neighbours of a card do: commands again and again until a block ends."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks import ROOT
from benchmarks.command import HARNESS
from benchmarks.throughput import SLUG as MANY

ALONE = "alone"
_PRODUCTS = """
import torch
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
out = torch.empty_like(a)
while True:
    for _ in range(50):
        torch.matmul(a, a, out=out)
    torch.cuda.synchronize()
"""
_STARTS = """
import ctypes
driver, context, device = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_int()
assert not driver.cuInit(0)
assert not driver.cuDeviceGet(ctypes.byref(device), 0)
assert not driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
"""
_EVERY_S = 0.2
_ENDS_S = 30.0

Company = Callable[[], Any]


def companies_of(others: Sequence[str], folder: Path, grade: Sequence[str]) -> dict[str, Company]:
    """What neighbours may do, each as a context in which they do it."""

    def on(card: str) -> dict[str, str]:
        return {"CUDA_VISIBLE_DEVICES": card}

    def grading(card: str) -> list[str]:
        return [*HARNESS, *grade, "--card", card, "--store", str(folder / f"{card}.sqlite")]

    nvcc = _compile(folder)
    return {
        ALONE: lambda: company([]),
        "grading": lambda: company([(grading(card), {}, 0.0) for card in others]),
        "products": lambda: company(
            [([sys.executable, "-c", _PRODUCTS], on(card), 0.0) for card in others]
        ),
        "starts": lambda: company(
            [([sys.executable, "-c", _STARTS], on(card), _EVERY_S) for card in others]
        ),
        "compilers": lambda: company([(nvcc(cpu), {}, 0.0) for cpu in _spare_cpus()]),
    }


def _compile(folder: Path) -> Callable[[int], list[str]]:
    """The command that compiles a file on one processor."""
    source = ROOT / "solutions" / MANY / "samples" / "register_blocked.cu"

    def command(cpu: int) -> list[str]:
        from harness.languages.build.toolchain import find_nvcc

        run = f"os.sched_setaffinity(0, [{cpu}]); os.execv(sys.argv[1], sys.argv[1:])"
        nvcc = find_nvcc()
        out = str(folder / f"compiled-{cpu}")
        options = ["-arch=sm_90", "-O3", "-shared", "-Xcompiler", "-fPIC", "-o", out]
        return [
            sys.executable,
            "-c",
            f"import os, sys; {run}",
            str(nvcc.path),
            *options,
            str(source),
        ]

    return command


def _spare_cpus() -> list[int]:
    """The processors that the host's plan leaves for builds."""
    from harness.device.cards import visible_cards
    from harness.device.workplace import host_plan

    buses = [card.bus for card in visible_cards()]
    return sorted(host_plan(buses[0], buses).rest)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a command and what it has started: compilers start others."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_ENDS_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def company(
    commands: Sequence[tuple[Sequence[str], Mapping[str, str], float]],
) -> Iterator[list[int]]:
    """Run each of ``commands``, with variables, again and again until the block ends.

    The third of each is the time from one start to the next, in seconds. The value counts how often
    each has ended.
    """
    over, counts = threading.Event(), [0] * len(commands)

    def repeat(number: int, words: Sequence[str], variables: Mapping[str, str], s: float) -> None:
        while not over.is_set():
            next_at = time.monotonic() + s
            process = subprocess.Popen(
                words,
                env={**os.environ, **variables},
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            while process.poll() is None and not over.wait(0.02):
                pass
            if process.poll() is None:
                _end(process)
                return
            counts[number] += 1
            over.wait(max(0.0, next_at - time.monotonic()))

    threads = [
        threading.Thread(target=repeat, args=(number, *each))
        for number, each in enumerate(commands)
    ]
    with ExitStack() as ended:
        for thread in threads:
            thread.start()
            ended.callback(thread.join)
        ended.callback(over.set)
        yield counts
