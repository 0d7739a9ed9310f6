"""A task of our own with two entry points, in GPU MODE's format, and what runs it there."""

from pathlib import Path

from support.foreign import written

REFERENCE = """
import torch

ATOL, RTOL = 1e-3, 1e-2
HALF = torch.float16

def reference_value(x, scale):
    return (x.float().square() * scale).sum(1)

def reference_slope(x, scale, weight):
    return (2 * x.float() * scale * weight[:, None]).to(HALF)

def generate_inputs(rows: int, width: int, seed: int = 3):
    torch.manual_seed(seed)
    x = torch.randn(rows, width, device="cuda").to(HALF)
    return x, torch.rand(width, device="cuda"), torch.randn(rows, device="cuda")
"""

RUNS_IT = """
import torch
from reference import ATOL, RTOL, generate_inputs, reference_slope, reference_value

ROWS = 2_048  # of all tests

def check(module, width, seed):
    x, scale, weight = generate_inputs(ROWS, width, seed=seed)
    value, slope = module.quadratic_value(x, scale), module.quadratic_slope(x, scale, weight)
    pairs = (value, reference_value(x, scale)), (slope, reference_slope(x, scale, weight))
    return all(torch.allclose(got, right, atol=ATOL, rtol=RTOL) for got, right in pairs)
"""

TASK = """
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "reference.py", "source": "reference.py"}
  - {"name": "run.py", "source": "run.py"}
lang: "py"
config:
  main: "run.py"
tests:
  - {"width": 96}
  - {"width": 160}
benchmarks:
  - {"width": 4096}
"""

VALUE = """
def quadratic_value(x, scale):
    return (x.float() ** 2) @ scale
"""

SLOPE = """
def quadratic_slope(x, scale, weight):
    return (x.float() * (2 * scale) * weight[:, None]).to(x.dtype)
"""

SOLUTION = VALUE + SLOPE


def checkout(folder: Path, reference: str = REFERENCE, runs_it: str = RUNS_IT) -> Path:
    """A checkout with the task; the path of its folder."""
    written(folder, "set/quadratic/reference.py", reference)
    written(folder, "set/quadratic/run.py", runs_it)
    return written(folder, "set/quadratic/task.yml", TASK).parent
