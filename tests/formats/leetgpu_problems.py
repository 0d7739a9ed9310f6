"""Challenges of our own that keep LeetGPU's contract, each with a ``solve`` that is right."""

from pathlib import Path

from support.foreign import written

BASE = """
class ChallengeBase:
    def __init__(self, device="cuda"):
        self.device = device


class RandTensor:
    def __init__(self, shape, low=0.0, high=1.0, dtype="float32"):
        self.shape, self.low, self.high, self.dtype = tuple(shape), low, high, dtype


class RandIntTensor:
    def __init__(self, shape, low, high, dtype="int32"):
        self.shape, self.low, self.high, self.dtype = tuple(shape), low, high, dtype


class OutTensor:
    def __init__(self, shape, dtype="float32"):
        self.shape, self.dtype = tuple(shape), dtype
"""

HEAD = """
import ctypes
import torch
from core.challenge_base import *

FLOATS, INTS = ctypes.POINTER(ctypes.c_float), ctypes.POINTER(ctypes.c_int)
"""


def challenge(signature: str, reference: str, tests: str, facts: str = "") -> str:
    """A file with these parts; ``reference`` is a function's head without ``def`` and its body."""
    return (
        f"{HEAD}\nclass Challenge(ChallengeBase):\n    name = 'Stand-in'\n    atol = 1e-5\n"
        f"    rtol = 1e-4\n    num_gpus = 1\n    {facts}\n\n"
        f"    def reference_impl(self, {reference}\n\n"
        f"    def get_solve_signature(self):\n        return {{{signature}}}\n\n"
        f"    def generate_functional_test(self):\n        d = self.device\n        {tests}\n"
    )


SCALE = challenge(
    "'x': (FLOATS, 'in'), 'y': (FLOATS, 'out'), 'a': (ctypes.c_float, 'in'),"
    "'n': (ctypes.c_size_t, 'in')",
    "x, y, a, n):\n        assert x.dtype == y.dtype == torch.float32 and x.is_cuda\n"
    "        torch.mul(x, a, out=y)",
    "return [{'x': torch.tensor([1.0, 2.0], device=d), 'y': torch.zeros(2, device=d), 'a': 2.0,"
    " 'n': 2}] + [{'x': torch.randn(n, device=d), 'y': torch.empty(n, device=d), 'a': 0.5, 'n': n}"
    " for n in (1, 300)]",
)

SEVERAL = challenge(
    "'x': (FLOATS, 'in'), 'top': (FLOATS, 'out'), 'where': (INTS, 'out')",
    "x, top, where):\n        best = x.max(dim=1)\n        top.copy_(best.values)\n"
    "        where.copy_(best.indices)",
    "return [{'x': torch.rand((7, 9), device=d), 'top': torch.empty(7, device=d),"
    " 'where': torch.empty(7, dtype=torch.int32, device=d)}]",
)

IN_PLACE = challenge(
    "'image': (ctypes.POINTER(ctypes.c_uint8), 'inout')",
    "image):\n        image[:] = 255 - image",
    "return [{'image': torch.randint(0, 256, (33,), dtype=torch.uint8).to(d)}]",
)

HALVES = challenge(
    "'x': (ctypes.POINTER(ctypes.c_uint16), 'in'), 'k': (ctypes.POINTER(ctypes.c_int8), 'in'),"
    "'y': (ctypes.POINTER(ctypes.c_uint16), 'out')",
    "x, k, y):\n        y.copy_(x * k)",
    "return [{'x': torch.rand(50, device=d).half(), 'k': torch.arange(50).to(torch.int8),"
    " 'y': torch.empty(50, device=d, dtype=torch.float16)}]",
    "atol = rtol = 1e-2",
)

DESCRIBED = challenge(
    "'x': (FLOATS, 'in'), 'i': (INTS, 'in'), 'y': (FLOATS, 'out')",
    "x, i, y):\n        y.copy_(x[i.long()])",
    "return [{'x': RandTensor((20,), -1.0, 1.0), 'i': RandIntTensor((31,), 0, 20),"
    " 'y': OutTensor((31,))}]",
)

ADDED = challenge(
    "'x': (FLOATS, 'in'), 'total': (FLOATS, 'out')",
    "x, total):\n        total[0] = x.sum()",
    "torch.manual_seed(3)\n        return [{'x': torch.rand(99, device=d),"
    " 'total': torch.zeros(1, device=d)}]",
)

ACCEPTED = {
    "scale": (SCALE, "def solve(x, y, a, n): y[:n] = x[:n] * a", "inputs: given in some cases"),
    "several": (
        SEVERAL,
        "def solve(x, top, where): top[:], where[:] = x.max(dim=1)",
        "shapes: fixed",
    ),
    "in_place": (IN_PLACE, "def solve(image): image.neg_().sub_(1)", "shapes: fixed"),
    "halves": (HALVES, "def solve(x, k, y): y[:] = x * k", "tolerance: own 0.01·|x| + 0.01"),
    "described": (DESCRIBED, "def solve(x, i, y): y[:] = x[i.long()]", "shapes: fixed"),
    "added": (ADDED, "def solve(x, total): total += x.sum()", "shapes: fixed"),
}
"""Text, a solution, a claim of the result."""

OUT = "'y': (FLOATS, 'out')"
REFUSED = {
    "gpus": (
        challenge(OUT, "y):\n        y.fill_(1)", "return []", "num_gpus = 2"),
        "needs 2 GPUs",
    ),
    "random": (
        challenge(
            OUT, "y):\n        y.copy_(torch.rand(3))", "return [{'y': torch.empty(3, device=d)}]"
        ),
        "is not the same each time",
    ),
    "huge": (
        challenge(OUT, "y):\n        y.fill_(1)", "return [{'y': torch.empty(1 << 21, device=d)}]"),
        "all of its tests are too large for a machine without a GPU",
    ),
}


def checkout(folder: Path, name: str, text: str) -> Path:
    """A checkout with one challenge; the path of its folder."""
    written(folder, "challenges/core/challenge_base.py", BASE)
    return written(folder, f"challenges/easy/{name}/challenge.py", text).parent
