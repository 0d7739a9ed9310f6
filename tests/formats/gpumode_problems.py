"""Tasks of our own that keep GPU MODE's contract, each with a ``custom_kernel`` that is right."""

from pathlib import Path

from support.foreign import written

UTILS = """
import torch

def verbose_allclose(received, expected, rtol=1e-05, atol=1e-08, max_print=5):
    if received.shape != expected.shape:
        return ["shapes differ"]
    near = torch.isclose(received.double(), expected.double(), rtol=rtol, atol=atol)
    return [] if bool(near.all()) else ["values differ"]

def match_reference(data, output, reference, rtol=1e-05, atol=1e-08):
    reasons = verbose_allclose(output, reference(data), rtol=rtol, atol=atol)
    return (False, " ".join(reasons)) if reasons else (True, "")

def make_match_reference(reference, **kwargs):
    return lambda data, output: match_reference(data, output, reference=reference, **kwargs)
"""

TASK = """
files:
  - {{"name": "submission.py", "source": "@SUBMISSION@"}}
  - {{"name": "task.py", "source": "task.py"}}
  - {{"name": "utils.py", "source": "../utils.py"}}
  - {{"name": "reference.py", "source": "reference.py"}}
  - {{"name": "eval.py", "source": "../eval.py"}}
lang: "py"
description: |
  Text
config:
  main: "eval.py"
tests:
{tests}
benchmarks:
  - {{"size": 1048576, "seed": 5}}
"""

HEAD = """
import torch
from task import input_t, output_t
from utils import make_match_reference, match_reference, verbose_allclose

def generator(seed):
    made = torch.Generator(device="cuda")
    made.manual_seed(seed)
    return made
"""

SORT = (
    HEAD
    + """
def generate_input(size: int, seed: int) -> input_t:
    data = torch.rand(size, device="cuda", generator=generator(seed))
    return data, torch.empty_like(data)

def ref_kernel(data: input_t) -> output_t:
    data, output = data
    output[...] = torch.sort(data)[0]
    return output

check_implementation = make_match_reference(ref_kernel)
"""
)

ALONE = (
    HEAD
    + """
def generate_input(size, seed):
    return torch.randn(size, device="cuda", generator=generator(seed)).half()

def ref_kernel(data):
    return data * 2

check_implementation = make_match_reference(ref_kernel, rtol=1e-3, atol=1e-3)
"""
)

NESTED = (
    HEAD
    + """
def generate_input(size, seed):
    g = generator(seed)
    weights = {"norm.weight": torch.rand(4, device="cuda", generator=g)}
    weights["bias"] = torch.rand(4, device="cuda")
    return torch.rand(size, 4, device="cuda", generator=g), weights, {"scale": 3, "bias": True}

def ref_kernel(data):
    x, weights, config = data
    return x * weights["norm.weight"] * config["scale"] + weights["bias"]

check_implementation = make_match_reference(ref_kernel, rtol=2e-2, atol=2e-2)
"""
)

SCRATCH = (
    HEAD
    + """
def generate_input(size, seed):
    x = torch.randn(size, device="cuda", generator=generator(seed))
    return x, torch.empty(size, device="cuda")

def ref_kernel(data):
    x, output = data
    output = torch.cumsum(x.to(torch.float64), dim=0)
    return output

def check_implementation(data, output):
    scale = data[0].numel() ** 0.5
    return match_reference(data, output, ref_kernel, rtol=1e-5 * scale, atol=1e-5 * scale)
"""
)

TWO = (
    HEAD
    + """
def generate_input(size, seed):
    x = torch.randn(size, 8, device="cuda", generator=generator(seed))
    return x, torch.empty_like(x), torch.empty(size, 1, device="cuda")

def ref_kernel(data):
    x, q, s = data
    s[...] = x.abs().amax(1, keepdim=True)
    q[...] = x / s
    return q, s

def check_implementation(data, output):
    expected = ref_kernel(data)
    reasons = [w for a, b in zip(output, expected) for w in verbose_allclose(a, b, 1e-3, 1e-3)]
    return (False, " | ".join(reasons)) if reasons else (True, "")
"""
)

PROPERTY = (
    HEAD
    + """
def generate_input(size, seed, case="dense"):
    x = torch.rand(size, device="cuda", generator=generator(seed))
    return x + (case == "high")

def ref_kernel(data):
    return data.sqrt()

def check_implementation(data, output):
    if output.dtype != torch.float32:
        return False, "a strange type"
    return bool(((output * output - data).abs() <= 1e-5).all()), "squares differ"
"""
)

MASKED = (
    HEAD
    + """
def generate_input(size, seed, masked=False, parts=1):
    x = torch.rand(size, device="cuda", generator=generator(seed))
    mask = torch.ones(size) if not masked else torch.randint(0, 2, (size,), device="cuda")
    return (x, mask, *(x + 1,) * (parts - 1))

def ref_kernel(data):
    return data[0] * data[1]

check_implementation = make_match_reference(ref_kernel)
"""
)

NARROW = (
    HEAD
    + """
def generate_input(size, seed):
    g = generator(seed)
    a = torch.randn(16, size, device="cuda", generator=g).to(torch.float8_e4m3fn)
    scale = torch.rand(4, size, device="cuda", generator=g)
    return a.T, scale.T, torch.zeros(size, 16, dtype=torch.bfloat16, device="cuda")

def ref_kernel(data):
    a, scale, c = data
    scale = scale.contiguous().repeat_interleave(4, 1)
    c[...] = (a.to(scale.dtype) * scale).to(torch.bfloat16)
    return c

check_implementation = make_match_reference(ref_kernel, rtol=2e-2, atol=1e-3)
"""
)

BLOCKS = (
    HEAD
    + """
def generate_input(size, seed):
    torch.manual_seed(seed)
    a = torch.randint(-128, 128, (1, 128, 32), dtype=torch.int8, device="cuda").permute(1, 2, 0)
    b = torch.randint(-128, 128, (1, size, 32), dtype=torch.int8, device="cuda").permute(1, 2, 0)
    scale = torch.randint(0, 4, (512,), device="cuda").to(torch.float8_e4m3fn)
    c = torch.randn((1, 128, size), dtype=torch.float16, device="cuda").permute(1, 2, 0)
    return a.view(torch.float4_e2m1fn_x2), b.view(torch.float4_e2m1fn_x2), scale, c

def ref_kernel(data):
    a, b, scale, c = data
    rows = -(-b.shape[0] // 128)
    scale_b = torch.ones(512 * rows).to(torch.float8_e4m3fn)
    b = b[:, :, 0].transpose(0, 1)
    c[:, :, 0] = torch._scaled_mm(
        a[:, :, 0], b, scale.cuda(), scale_b.cuda(), bias=None, out_dtype=torch.float16
    )
    return c

check_implementation = make_match_reference(ref_kernel, rtol=1e-3, atol=1e-3)
"""
)

_BY_HAND = """
import torch

KNOWN = [0, 0.5, 1, 1.5, 2, 3, 4, 6]

def numbers(packed):
    signed = torch.tensor(KNOWN + [-each for each in KNOWN])
    bytes_ = packed[:, :, 0].view(torch.uint8).long()
    return signed[torch.stack((bytes_ % 16, bytes_ // 16), 2).flatten(1)]

def custom_kernel(data):
    a, b, scale, c = data
    assert a.dtype is b.dtype is torch.float4_e2m1fn_x2
    assert a.stride()[:2] == (32, 1)
    rows = torch.arange(128)[:, None]
    steps = torch.arange(4)[None]
    places = rows % 32 * 16 + rows // 32 * 4 + steps
    each = scale.float()[places].repeat_interleave(16, 1)
    c[:, :, 0] = (numbers(a) * each) @ numbers(b).T
    return c
"""

ACCEPTED = {
    "narrow": (
        NARROW,
        "import torch\ndef custom_kernel(data):\n    a, scale, c = data\n"
        "    assert a.dtype is torch.float8_e4m3fn and a.stride() == (1, len(a))\n"
        "    assert scale.stride() == (1, len(a)) and c.is_contiguous()\n"
        "    c[:] = a.float() * scale.repeat_interleave(4, 1)\n    return c",
        "tolerance: own 0.02·|x| + 0.001",
    ),
    "blocks": (BLOCKS, _BY_HAND, "tolerance: own 0.001·|x| + 0.001"),
    "sort": (
        SORT,
        "def custom_kernel(data):\n    x, y = data\n    y.copy_(x.sort()[0])\n    return y",
        "tolerance: own 1e-05·|x| + 1e-08",
    ),
    "alone": (ALONE, "def custom_kernel(data): return data.mul_(2)", "shapes: fixed"),
    "nested": (
        NESTED,
        "from task import input_t\ndef custom_kernel(data):\n    x, w, c = data\n"
        "    assert c['bias'] is True\n    return x * w['norm.weight'] * c['scale'] + w['bias']",
        "tolerance: own 0.02·|x| + 0.02",
    ),
    "scratch": (
        SCRATCH,
        "def custom_kernel(data): return data[0].cumsum(0)",
        "shapes: fixed",
    ),
    "two": (
        TWO,
        "def custom_kernel(data):\n    x, q, s = data\n    s[:] = x.abs().amax(1, keepdim=True)\n"
        "    return x / s, s",
        "tolerance: own 0.001·|x| + 0.001",
    ),
    "property": (PROPERTY, "def custom_kernel(data): return -data.sqrt()", "tolerance: own check"),
}
"""Text, a solution, a claim of the result. The square of a negative root is right, too."""

REFUSED = {
    "rules": (HEAD + "def reference(x): return x", "has no generate_input"),
    "random": (SORT.replace("torch.sort(data)[0]", "torch.rand_like(data)"), "same each time"),
    "package": ("import no_such\n" + SORT, "no_such"),
    "object": (ALONE.replace("return torch.randn", "return object(), torch.randn"), "object"),
    "narrow": (
        ALONE.replace(".half()", ".to(torch.float8_e4m3fn)").replace("data * 2", "data"),
        "float8_e4m3fn",
    ),
}


def checkout(folder: Path, name: str, text: str, tests: str = "") -> Path:
    """A checkout with one task; the path of its folder."""
    lines = tests or '  - {"size": 33, "seed": 4242}\n  - {"size": 1025, "seed": 7}'
    written(folder, "problems/set/utils.py", UTILS)
    written(folder, f"problems/set/{name}/task.py", "input_t = output_t = object\n")
    written(folder, f"problems/set/{name}/reference.py", text)
    return written(folder, f"problems/set/{name}/task.yml", TASK.format(tests=lines)).parent
