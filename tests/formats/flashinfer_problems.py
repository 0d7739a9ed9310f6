"""Definitions of our own in FlashInfer's format, each with a ``run`` that is right."""

import json
from pathlib import Path
from typing import Any

from support.foreign import written

Json = dict[str, Any]


def definition(reference: str, inputs: Json, outputs: Json, axes: Json, **more: Any) -> Json:
    """A definition; a shape is words, a type may follow after a colon."""
    return {
        "name": "stand_in",
        "axes": {
            name: {"type": "var"}
            if each is None
            else {"type": "expr", "expression": each}
            if isinstance(each, str)
            else {"type": "const", "value": each}
            for name, each in axes.items()
        },
        "inputs": {name: _tensor(each) for name, each in inputs.items()},
        "outputs": {name: _tensor(each) for name, each in outputs.items()},
        "reference": "import torch\n\n" + reference,
        **more,
    }


def _tensor(said: str) -> Json:
    shape, _, dtype = said.partition(":")
    return {"shape": None if shape == "-" else shape.split(), "dtype": dtype or "float32"}


def workload(axes: Json, **inputs: Any) -> Json:
    """A workload; an input is random, or a number, or as it is described."""
    return {
        "uuid": "1",
        "axes": axes,
        "inputs": {
            name: each
            if isinstance(each, dict)
            else {"type": each}
            if isinstance(each, str)
            else {"type": "scalar", "value": each}
            for name, each in inputs.items()
        },
    }


NORM = definition(
    "def run(x, weight, eps):\n    y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)\n"
    "    return y * weight",
    {"x": "rows width", "weight": "width", "eps": "-"},
    {"y": "rows width"},
    {"rows": None, "width": 64},
)
NORM_WORK = [workload({"rows": n}, x="random", weight="random", eps=1e-5) for n in (3, 40, 1 << 20)]

PAIR = definition(
    "def run(q, k):\n    s = q @ k.T\n    return {'lse': s.logsumexp(-1), 'out': s.softmax(-1)}",
    {"q": "m d:bfloat16", "k": "n d:bfloat16"},
    {"out": "m n:bfloat16", "lse": "m:float32"},
    {"m": None, "n": None, "d": 16},
)

CUSTOM = definition(
    "def make(known, device):\n    e = known['e']\n"
    "    return {'where': torch.randint(0, e, (known['t'],), device=device, dtype=torch.int32)}\n\n"
    "def run(table, where):\n    return table[where.long()]",
    {"table": "e d", "where": "t:int32"},
    {"out": "t d"},
    {"t": None, "e": 9, "d": 8},
    custom_inputs_entrypoint="make",
)

EXPRESSION = definition(
    "def run(x):\n    return x.reshape(-1) * 2",
    {"x": "b s"},
    {"y": "t"},
    {"b": None, "s": None, "t": "b * s"},
)

STORED = definition(
    "def run(x, start):\n    return torch.stack([x[int(a):int(b)].sum()"
    " for a, b in zip(start[:-1], start[1:])])",
    {"x": "n", "start": "k:int32"},
    {"y": "m"},
    {"n": None, "k": None, "m": "k - 1"},
)

NARROW = definition(
    "def run(a, b, scale):\n    return (a.to(scale.dtype) * scale[:, None]) @ b.to(scale.dtype).T",
    {"a": "m k:float8_e4m3fn", "b": "n k:float8_e5m2", "scale": "m"},
    {"c": "m n:bfloat16"},
    {"m": None, "n": 24, "k": 32},
)

MOST = definition("def run(x):\n    return x.exp()", {"x": "n"}, {"y": "n"}, {"n": None})
MOST_WORK = [
    {
        **workload({"n": 400}, x="random"),
        "tolerance": {"max_atol": 1e-5, "max_rtol": 1e-5, "required_matched_ratio": 0.99},
    }
]

SUM = "import torch\ndef run(x, start):\n    return torch.stack([x[int(a):int(b)].sum()"
ACCEPTED: dict[str, tuple[Json, list[Json], str, str]] = {
    "norm": (
        NORM,
        NORM_WORK,
        "def run(x, weight, eps, y):\n"
        "    y.copy_(x * (x.pow(2).mean(-1, keepdim=True) + eps).rsqrt() * weight)",
        "tolerance: own 0.01·|x| + 0.01",
    ),
    "pair": (
        PAIR,
        [
            {
                "definition": "stand_in",
                "workload": workload({"m": 5, "n": 7}, q="random", k="random"),
            }
        ],
        "def run(k, q):\n    s = q.float() @ k.float().T\n"
        "    return s.softmax(-1).bfloat16(), s.logsumexp(-1)",
        "shapes: fixed",
    ),
    "narrow": (
        NARROW,
        [workload({"m": 5}, a="random", b="random", scale="random")],
        "import torch\ndef run(a, b, scale, c):\n    assert b.dtype is torch.float8_e5m2\n"
        "    c.copy_((a.float() * scale[:, None]) @ b.float().T)",
        "shapes: fixed",
    ),
    "custom": (
        CUSTOM,
        [workload({"t": 21}, table="random", where="custom")],
        "def run(*given): return given[0][given[1].long()]",
        "shapes: fixed",
    ),
    "expression": (
        EXPRESSION,
        [workload({"b": 3, "s": 4}, x="random")],
        "def run(x): return {'y': x.flatten() * 2}",
        "shapes: fixed",
    ),
    "stored": (
        STORED,
        [
            workload(
                {"n": 30, "k": 4},
                x="random",
                start={"type": "safetensors", "path": "blob/a.safetensors", "tensor_key": "start"},
            )
        ],
        SUM + " for a, b in zip(start[:-1], start[1:])])",
        "shapes: fixed",
    ),
    "most": (MOST, MOST_WORK, "def run(x): return x.exp()", "tolerance: own check"),
}
"""Definition, workloads, a solution, a claim of the result."""

WRONG = {
    "narrow": (".float().T", ".float().T.abs()"),
    "norm": ("* weight", "+ weight"),
    "pair": (".logsumexp(-1)", ".sum(-1)"),
    "custom": ("long()]", "long() * 0]"),
    "expression": ("* 2", "* 2.1"),
    "stored": ("sum()", "mean()"),
    "most": ("x.exp()", "x.exp() + 1"),
}
"""What makes a solution wrong: a part of it, and what is there instead."""


def stored(name: str, values: list[int]) -> bytes:
    """A file with one tensor of 32-bit integers."""
    body = b"".join(each.to_bytes(4, "little", signed=True) for each in values)
    about = {"dtype": "I32", "shape": [len(values)], "data_offsets": [0, len(body)]}
    head = json.dumps({name: about}).encode()
    return len(head).to_bytes(8, "little") + head + body


def checkout(folder: Path, name: str, made: Json, work: list[Json]) -> Path:
    """A checkout with one definition, and its tensors; the definition's path."""
    (folder / "blob").mkdir(parents=True, exist_ok=True)
    (folder / "blob/a.safetensors").write_bytes(stored("start", [0, 7, 11, 30]))
    lines = "\n".join(map(json.dumps, work))
    written(folder, f"workloads/kind/{name}.jsonl", lines + "\n")
    return written(folder, f"definitions/kind/{name}.json", json.dumps({**made, "name": name}))
