"""Definitions of our own that keep Tensara's contract, each with a ``solution`` that is right."""

from pathlib import Path

from support.foreign import written


def definition(
    parameters: str,
    reference: str,
    tests: str,
    *,
    inputs: str,
    extra: str,
    sample: str,
    verify: str = "return torch.allclose(got, expected, rtol=1e-4, atol=1e-5), {}",
) -> str:
    """A file with these parts; ``tests`` and ``sample`` are argument lists of ``case``."""
    return (
        "import torch\nfrom problem import Problem\n\n"
        "def pointer(name, const, type='float'):\n"
        "    return {'name': name, 'type': type, 'pointer': True, 'const': const}\n\n"
        "def number(name, type='size_t'):\n"
        "    return {'name': name, 'type': type, 'pointer': False, 'const': False}\n\n"
        f"class stand_in(Problem):\n    is_exact = False\n    parameters = [{parameters}]\n\n"
        "    def __init__(self):\n        super().__init__(name='stand-in')\n\n"
        f"    def reference_solution(self, {reference}\n\n"
        "    def case(self, name, **dims):\n"
        "        seed = Problem.get_seed(f'{self.name}_{name}')\n"
        "        def make():\n"
        "            g = torch.Generator(device='cuda').manual_seed(seed)\n"
        f"            return self.make(g, **dims)\n"
        "        return {'name': name, 'dims': dims, 'create_inputs': make}\n\n"
        f"    def make(self, g, {inputs}\n\n"
        "    def generate_test_cases(self):\n"
        f"        return [self.case(str(each), **each) for each in {tests}]\n\n"
        f"    def generate_sample(self):\n        return self.case('sample', {sample})\n\n"
        f"    def verify_result(self, expected, got):\n        {verify}\n\n"
        f"    def get_extra_params(self, test_case):\n        d = test_case['dims']\n"
        f"        return {extra}\n"
    )


RANDOM = "device='cuda', dtype=self.param_dtype(0), generator=g"

ADD = definition(
    "pointer('a', True), pointer('b', True), pointer('c', False), number('n')",
    "a, b):\n        assert a.is_cuda\n        return a + b",
    "[{'n': 300}, {'n': 1 << 22}, {'n': 1073741824}]",
    inputs=f"n):\n        return torch.randn(n, {RANDOM}), torch.randn(n, {RANDOM})",
    extra="[d['n']]",
    sample="n=8",
)

SCALED = definition(
    "pointer('x', True), number('factor', 'float'), pointer('y', False), number('h'), number('w')",
    "x, factor):\n        with torch.no_grad(), torch.autocast('cuda', enabled=False):\n"
    "            return x * factor",
    "[{'h': 3, 'w': 5}, {'h': 64, 'w': 33}]",
    inputs=f"h, w):\n        return torch.rand((h, w), {RANDOM}), 2.5",
    extra="[d['h'], d['w']]",
    sample="h=2, w=2",
)

GREATEST = definition(
    "pointer('x', True), number('dim', 'int'), pointer('place', False, 'int'),"
    "pointer('shape', True, 'int'), number('ndim', 'int')",
    "x, dim):\n        return torch.argmax(x, dim=dim).to(torch.int32)",
    "[{'shape': (4, 5), 'dim': 1}, {'shape': (3, 4, 6), 'dim': 0}]",
    inputs=f"shape, dim):\n        return torch.rand(shape, {RANDOM}), dim",
    extra="[torch.tensor(d['shape'], dtype=torch.int32), len(d['shape'])]",
    sample="shape=(2, 3), dim=1",
    verify="return torch.all(expected == got), {}",
)

TWO = definition(
    "pointer('x', True), pointer('low', False), pointer('high', False), number('n')",
    "x):\n        return x.min().reshape(1), x.max().reshape(1)",
    "[{'n': 70}, {'n': 513}]",
    inputs=f"n):\n        return torch.rand(n, {RANDOM})",
    extra="[d['n']]",
    sample="n=9",
    verify="return all(torch.allclose(a, b, 1e-5, 1e-6) for a, b in zip(got, expected)), {}",
)

LOWER = definition(
    "pointer('x', True), pointer('y', False), number('n')",
    "x):\n        return torch.tril(x)",
    "[{'n': 6}, {'n': 31}]",
    inputs=f"n):\n        return torch.rand((n, n), {RANDOM}).add_(0.1)",
    extra="[d['n']]",
    sample="n=3",
    verify="flat = bool((torch.triu(got, 1) == 0).all())\n"
    "        return flat and torch.allclose(got, expected, rtol=1e-2, atol=1e-2), {}",
)

MODULAR = definition(
    "pointer('x', True, 'uint32_t'), pointer('y', False, 'uint32_t'), number('n')",
    "x):\n        return ((x.to(torch.int64) * 3) % 2147483647).to(torch.uint32)",
    "[{'n': 65}]",
    inputs="n):\n        return (torch.randint(0, 2147483647, (n,), device='cuda',"
    " dtype=torch.uint32, generator=g),)",
    extra="[d['n']]",
    sample="n=5",
    verify="return torch.equal(expected, got), {}",
)

ACCEPTED = {
    "add": (ADD, "def solution(a, b, c, n): c[:] = a + b", "tolerance: own 0.0001·|x| + 1e-05"),
    "scaled": (SCALED, "def solution(x, f, y, h, w): y[:] = x * f", "shapes: fixed"),
    "greatest": (
        GREATEST,
        "def solution(x, dim, place, shape, ndim): place[:] = x.argmax(dim)",
        "tolerance: own 0·|x| + 0",
    ),
    "two": (
        TWO,
        "def solution(x, low, high, n): low[0] = x.min(); high += x.max()",
        "shapes: fixed",
    ),
    "lower": (LOWER, "def solution(x, y, n): y[:] = x.tril()", "tolerance: own check"),
    "modular": (
        MODULAR,
        "def solution(x, y, n):\n    import torch\n"
        "    y[:] = (x.to(torch.int64) * 3 % 2147483647).to(torch.uint32)",
        "tolerance: own 0·|x| + 0",
    ),
}
"""Text, a solution, a claim of the result."""

REFUSED = {
    "package": (ADD.replace("        assert a.is_cuda\n", "        import no_such\n"), "no_such"),
    "random": (ADD.replace("return a + b", "return a + torch.rand_like(b)"), "the same each time"),
    "type": (ADD.replace("pointer('a', True)", "pointer('a', True, 'float8')"), "float8"),
}

MISTAKEN = {
    "few": (ADD.replace("return [d['n']]", "return []"), "2 arguments for 3 parameters"),
    "none": (
        ADD.replace("stand_in(Problem)", "stand_in(Problem, object)").replace(
            "pointer('c', False)", "pointer('c', True)"
        ),
        "no output",
    ),
    "shape": (ADD.replace("return a + b", "return [a, b]"), "returns 2 of 1 outputs"),
}


def checkout(folder: Path, name: str, text: str) -> Path:
    """A checkout with one problem; the path of its folder."""
    written(folder, f"problems/{name}/problem.md", '---\ntitle: "Stand-in"\n---\nText\n')
    return written(folder, f"problems/{name}/def.py", text).parent
