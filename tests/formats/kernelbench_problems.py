"""Problems of our own that keep KernelBench's contract, and others that nearly do."""

HEAD = "import torch\nimport torch.nn as nn\n"

SCALED = """
class Model(nn.Module):
    def __init__(self, wide, narrow, factor):
        super().__init__()
        self.layer = nn.Linear(wide, narrow)
        self.factor = factor

    def forward(self, x):
        return self.layer(x) * self.factor

batch_size = 512
wide = 2048
narrow = 64 * 16
factor = 1.5

def get_inputs():
    return [torch.rand(batch_size, wide)]

def get_init_inputs():
    return [wide, narrow, factor]
"""

SEVERAL = """
class Model(nn.Module):
    def forward(self, x, y):
        return (x + y).max(dim=1)

def get_inputs():
    return [torch.randn(7, 33), torch.randn(7, 33)]

def get_init_inputs():
    return []
"""

LABELLED = """
class Model(nn.Module):
    def forward(self, scores, labels, mask):
        return nn.functional.cross_entropy(scores, labels) + (scores * mask).sum(dim=0)

def get_inputs():
    return [torch.randn(6, 5), torch.randint(0, 5, (6,)), torch.rand(6, 5) > 0.5]

def get_init_inputs():
    return []
"""

NESTED = """
class Model(nn.Module):
    def __init__(self, sides, named, dtype, bias=None, flag=False):
        super().__init__()
        (a, b), rest = sides
        assert isinstance(sides, tuple) and isinstance(rest, list) and named[3] == (4,)
        assert dtype is torch.float32 and bias is None and flag is True
        self.layer = nn.Conv2d(a, rest[0], kernel_size=(b, 1), bias=False)

    def forward(self, x):
        return self.layer(x)

def get_inputs():
    return [torch.rand(2, 3, 9, 8)]

def get_init_inputs():
    return [((3, 2), [4]), {"k": "v", 3: (4,)}, torch.float32, None, True]
"""

NORMED = """
class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        return self.norm(x)

def get_inputs():
    return [torch.rand(4, 5, 6, 7)]

def get_init_inputs():
    return [5]
"""

NUMBERED = """
class Model(nn.Module):
    def forward(self, x, factor: float, shift: int):
        return x * factor + shift

def get_inputs():
    return [torch.rand(11), 0.25, 3]

def get_init_inputs():
    return []
"""

KEPT = """
batch_size = 4096
wide = 2048
shape = (batch_size, wide)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = torch.randn(shape)

    def forward(self, x):
        assert x.shape[0] == batch_size
        return x + self.state.to(x.device)

def get_inputs():
    return [torch.rand(batch_size, wide)]

def get_init_inputs():
    return []
"""

SINGLE = """
class Model(nn.Module):
    def forward(self, x):
        return x @ torch.eye(x.shape[1])

def get_inputs():
    return [torch.rand(5, 6)]

def get_init_inputs():
    return []
"""

FIXED = """
class Model(nn.Module):
    def forward(self, x):
        return x.cumsum(0)

def get_inputs():
    return [torch.arange(9.0)]

def get_init_inputs():
    return []
"""

PAIRED = """
class Model(nn.Module):
    def forward(self, x, states, options, times):
        for h, c in states:
            x = x * h + c * options["rate"]
        return x * times, [(x.sum(), (x > 0).sum())]

def get_inputs():
    states = [(torch.rand(9), torch.rand(9)) for _ in range(2)]
    return [torch.rand(4, 9), states, {"rate": torch.rand(9), 3: None}, 2]

def get_init_inputs():
    return []
"""

RECURRENT = """
class Model(nn.Module):
    def __init__(self, wide):
        super().__init__()
        self.layer = nn.GRU(wide, 4)

    def forward(self, x):
        return self.layer(x)

def get_inputs():
    return [torch.rand(3, 2, 5)]

def get_init_inputs():
    return [5]
"""

TURNED = """
class Model(nn.Module):
    def forward(self, x):
        return (x * 2).transpose(0, 2), x[:, ::2].permute(2, 0, 1)

def get_inputs():
    return [torch.randn(6, 4, 5)]

def get_init_inputs():
    return []
"""

ACCEPTED = {
    "paired": (PAIRED, "shapes: fixed"),
    "scaled": (SCALED, "sizes: divided by 2 for the CPU"),
    "kept": (KEPT, "sizes: smaller batch for the CPU"),
    "several": (SEVERAL, "shapes: fixed"),
    "labelled": (LABELLED, "shapes: fixed"),
    "nested": (NESTED, "shapes: fixed"),
    "normed": (NORMED, "shapes: fixed"),
    "recurrent": (RECURRENT, "weights: fixed for a grade"),
    "numbered": (NUMBERED, "shapes: fixed"),
    "single": (SINGLE, "reference: float32"),
    "fixed": (FIXED, "inputs: fixed"),
    "turned": (TURNED, "shapes: fixed"),
}
"""Text, and a claim of the result."""


def model(body: str, *, inputs: str = "[torch.rand(4)]", init: str = "[]", before: str = "") -> str:
    """A problem with this ``forward(self, x)``, by its last lines."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return (
        f"{HEAD}{before}\nclass Model(nn.Module):\n    def __init__(self, *given):\n"
        f"        super().__init__()\n\n    def forward(self, x):\n{lines}\n"
        f"def get_inputs():\n    return {inputs}\n\ndef get_init_inputs():\n    return {init}\n"
    )


REFUSED = {
    "dropout": (model("return nn.functional.dropout(x, 0.5)"), "draws random numbers in the call"),
    "remembers": (
        model("self.n = getattr(self, 'n', 0) + 1\nreturn x + self.n"),
        "remembers earlier calls",
    ),
    "package": (
        model("return x", before="import no_such_package\n"),
        "needs the package no_such_package, which is not installed",
    ),
    "mapping": (model("return {'y': x}"), "returns a dict among tensors"),
    "object": (model("return x", init="[object()]"), "its constructor is given a object"),
    "text": (model("return x", inputs="['x']"), "get_inputs returns a str"),
    "sparse": (model("return x.to_sparse()"), "its reference returns a tensor of torch.sparse_coo"),
}
"""Text, and a part of the reason why it is not graded."""

MISTAKEN = {
    "raises": (model("return x[9]"), "IndexError"),
    "not_a_list": (model("return x", inputs="torch.rand(3)"), "get_inputs must return a list"),
    "empty": (model("return x[:0]"), "the judge cannot work with the shape (0,) of output"),
    "no_module": (HEAD + "class Model: pass\ndef get_inputs(): return []\n"
                  "def get_init_inputs(): return []\n", "AttributeError"),
}  # fmt: skip
