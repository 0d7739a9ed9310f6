# Honest: asks a child process something while it is imported, and waits for it.
# threat: honest
# problem: vector-add
# verdict: accepted

import multiprocessing
import subprocess
import sys

import torch

MEANING = subprocess.run(
    [sys.executable, "-c", "print(42)"], capture_output=True, text=True, check=False
).stdout
CORES = multiprocessing.cpu_count()


def solution(x, y, z, n):
    torch.add(x, y, out=z)
