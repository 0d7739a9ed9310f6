"""A problem of our own with weights of all kinds, and submissions that hold them in other ways."""

from formats.kernelbench_problems import HEAD

PROBLEM = f"""{HEAD}
class Model(nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.first = nn.Linear(wide, narrow)
        self.norm = nn.LayerNorm(narrow)
        self.last = nn.Linear(narrow, narrow, bias=False)
        self.register_buffer("steps", torch.arange(float(narrow)))
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x):
        self.seen += 1
        return self.last(self.norm(self.first(x)) + self.steps)

def get_inputs():
    return [torch.rand(6, 5)]

def get_init_inputs():
    return [5, 4]
"""
"""Drawn: three; initial: gamma and beta of the norm; one buffer that stays and one that changes."""

_HEAD = f"{HEAD}import torch.nn.functional as F\n"

_MADE = """
class ModelNew(nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
"""
_LAYERS = """
        first, norm = nn.Linear(wide, narrow), nn.LayerNorm(narrow)
        last = nn.Linear(narrow, narrow, bias=False)
"""

SAME_NAMES = PROBLEM.replace("class Model(", "class ModelNew(")

RENAMED = f"""{_HEAD}{_MADE}{_LAYERS}
        self.w1, self.b1, self.w2 = first.weight, first.bias, last.weight
        self.scale, self.shift = norm.weight, norm.bias

    def forward(self, x):
        y = F.layer_norm(F.linear(x, self.w1, self.b1), (4,), self.scale, self.shift)
        return F.linear(y + torch.arange(4.0), self.w2)
"""

TRANSPOSED = f"""{_HEAD}{_MADE}{_LAYERS}
        self.first, self.norm, self.last = first, norm, last
        self.last.weight = nn.Parameter(last.weight.detach().t().contiguous())

    def forward(self, x):
        y = self.norm(self.first(x)) + torch.arange(4.0)
        return y @ self.last.weight
"""
"""The same names and shapes, for the matrix is square; other values."""

MERGED = f"""{_HEAD}{_MADE}{_LAYERS}
        self.first, self.norm = first, norm
        steps = torch.arange(4.0)[None] @ last.weight.t()
        self.both = nn.Parameter(torch.cat([last.weight, steps]))

    def forward(self, x):
        return self.norm(self.first(x)) @ self.both[:4].t() + self.both[4]
"""

DROPPED = f"""{_HEAD}{_MADE}{_LAYERS}
        self.first, self.norm = first, norm
        self.kept = last.weight.detach().clone(),

    def forward(self, x):
        return F.linear(self.norm(self.first(x)) + torch.arange(4.0), *self.kept)
"""
"""It has no such weight, but what it was made with, where nobody looks."""

COPYING = SAME_NAMES.replace(
    "    def forward(self, x):\n",
    "        self.copy = [self.last.weight.detach().clone()]\n\n    def forward(self, x):\n",
).replace(
    "self.last(self.norm(self.first(x)) + self.steps)",
    "nn.functional.linear(self.norm(self.first(x)) + self.steps, *self.copy)",
)
"""All weights are there, and a copy of one is used."""

REFUSING = COPYING.replace(
    "    def forward(self, x):\n",
    "    def forward(self, x):\n        assert torch.equal(self.copy[0], self.last.weight)\n",
)
"""It notices that a copy is not the weight any more."""

NO_GAMMA = RENAMED.replace("self.scale, self.shift = norm.weight, norm.bias", "").replace(
    ", self.scale, self.shift", ""
)
"""As the norm is made, gamma is 1 and beta 0: what ignores both is right."""

IGNORING = SAME_NAMES.replace(
    "self.norm(self.first(x))",
    "nn.functional.layer_norm(self.first(x), (4,), None, self.norm.bias)",
)
"""It has gamma, and does not use it."""

WRONG = SAME_NAMES.replace("+ self.steps", "+ self.steps * 1.01")

LYING = f"""{_HEAD}
import harness.runner.entry.contracts as contracts

{SAME_NAMES.split("class ModelNew")[0]}
class Honest(nn.Module):{SAME_NAMES.split("class ModelNew(nn.Module):")[1]}

def lie(model):
    return contracts_listed(Honest(5, 4))

contracts_listed, contracts.listed_weights = contracts.listed_weights, lie
_made = torch.get_rng_state

class ModelNew(Honest):
    def __init__(self, wide, narrow):
        state = torch.get_rng_state()
        super().__init__(wide, narrow)
        torch.set_rng_state(state)
        self.last.weight.data = self.last.weight.data.t().contiguous()

    def forward(self, x):
        return (self.norm(self.first(x)) + self.steps) @ self.last.weight
"""
"""Its matrix is transposed, and it says that it is the reference's."""
