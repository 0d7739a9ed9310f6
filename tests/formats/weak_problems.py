"""Problems of our own that keep KernelBench's contract, and pass what computes nothing."""

from formats.kernelbench_problems import HEAD

_REST = """

def get_inputs():
    return [{inputs}]

def get_init_inputs():
    return []
"""


def problem(forward: str, inputs: str = "torch.rand(8, 33)", names: str = "x") -> str:
    """The text of a problem by what its ``forward`` returns and its inputs are."""
    model = f"class Model(nn.Module):\n    def forward(self, {names}):\n        return {forward}\n"
    return HEAD + model + _REST.format(inputs=inputs)


WEAK: dict[str, tuple[str, list[str]]] = {
    "strong": (problem("(x @ x.T).tanh()", "torch.randn(8, 33)"), []),
    "zero": (
        problem("torch.clamp(x, max=0)"),
        ["zero answer", "constant answer", "another input's answer"],
    ),
    "nearly zero": (
        problem("torch.softmax(x, dim=0) * 1e-5"),
        ["zero answer", "constant answer", "another input's answer"],
    ),
    "constant": (
        problem("(x * 1e-6).cos()"),
        ["constant answer", "another input's answer"],
    ),
    "pattern": (
        problem("x * 1e-6 + torch.arange(33.0)"),
        ["another input's answer"],
    ),
    "fixed": (problem("x.cumsum(0)", "torch.ones(3, 4)"), ["another input's answer"]),
    "identity": (problem("torch.relu(x)"), ["its own input"]),
    "second": (
        problem("x.sum() * 0 + y.abs()", "torch.rand(3), torch.rand(5)", "x, y"),
        ["its own input"],
    ),
    "two outputs": (
        problem("(torch.relu(x), x.sum(dim=1))"),
        [],
    ),
    "index": (
        problem("(x - 1).clamp(max=0).argmax(dim=1) * 0"),
        ["zero answer", "constant answer", "another input's answer"],
    ),
    "not a number": (problem("x / 0 - x / 0"), ["another input's answer"]),
}
"""Text, and the impostors that are accepted."""
