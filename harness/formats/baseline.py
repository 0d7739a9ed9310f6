"""What a problem's times are relative to: its reference as a program, which a runner loads.

It is the author's code, so it runs confined, in a process of its own, and none of it is loaded
here: the program is a text that holds the problem's files, puts them into the runner's own folder,
and gives the reference the name that the format's submissions have.
"""

from collections.abc import Mapping

from harness.errors import HarnessError
from harness.formats.base import Source
from harness.formats.parts import told_parts

NAME = "reference"
"""Of the baseline, in results."""

_LOAD = """
import inspect, os, sys, tempfile, types
import torch

folder = tempfile.mkdtemp()
for name, text in FILES.items():
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text)
    sys.modules.pop(os.path.splitext(name)[0], None)
sys.path.insert(0, folder)


def loaded(name):
    path = os.path.join(folder, name)
    module = types.ModuleType(os.path.splitext(name)[0])
    module.__file__ = path
    sys.modules[module.__name__] = module
    code = compile(FILES[name], path, "exec", dont_inherit=True, optimize=1)
    exec(code, vars(module))
    return module

"""

_KERNELBENCH = """
ModelNew = loaded(FIRST).Model
"""

_LEETGPU = """
challenge = loaded(FIRST).Challenge(device="cuda")
names = list(challenge.get_solve_signature())


def solve(*arguments):
    with torch.no_grad():
        challenge.reference_impl(**dict(zip(names, arguments, strict=True)))
"""

_TENSARA = """
class Problem:
    is_exact = False
    parameters = ()

    def __init__(self, name="", *_, **__):
        self.name = name

    @staticmethod
    def get_seed(text):
        return 1

    def param_dtype(self, index):
        for number, each in enumerate(self.parameters):
            if index in (number, each.get("name")):
                return TYPES[each["type"]]


TYPES = {"float": torch.float32, "double": torch.float64, "half": torch.float16}
TYPES |= {"size_t": torch.int64, "int": torch.int32, "bool": torch.bool}
TYPES |= {"__nv_bfloat16": torch.bfloat16, "unsigned int": torch.uint32}
TYPES |= {f"{s}int{b}_t": getattr(torch, f"{s}int{b}") for s in ("", "u") for b in (8, 16, 32, 64)}

sys.modules["problem"] = types.ModuleType("problem")
sys.modules["problem"].Problem = Problem
found = [x for x in vars(loaded(FIRST)).values() if isinstance(x, type) and issubclass(x, Problem)]
problem = [x for x in found if x is not Problem][-1]()
taken = inspect.signature(problem.reference_solution).parameters.values()
count = None if any(p.kind is p.VAR_POSITIONAL for p in taken) else len(taken)


def run(*arguments):
    with torch.no_grad():
        return problem.reference_solution(*arguments[:count])
"""

_GPUMODE = """
reference = loaded(FIRST).ref_kernel


def custom_kernel(data):
    with torch.no_grad():
        return reference(data)
"""

_PARTS = """
reference = loaded(FIRST)
"""
"""Then a line for each part: names that a submission has to define are looked for in its text."""

_FLASHINFER = """
import functools, json

inner = loaded(FIRST).run
outputs = json.loads(FILES["definition.json"])["outputs"]
wanted = {name: getattr(torch, str(each["dtype"]), None) for name, each in outputs.items()}


@functools.wraps(inner)
def run(*arguments, **named):
    made = inner(*arguments, **named)
    if isinstance(made, dict):
        made = [made[name] for name in wanted]
    several = made if isinstance(made, (tuple, list)) else (made,)
    types = zip(several, wanted.values(), strict=True)
    return tuple(x if t is None else torch.as_tensor(x).to(t) for x, t in types)
"""

_PROGRAMS: Mapping[str, tuple[str, str]] = {
    "kernelbench": ("ModelNew", _KERNELBENCH),
    "leetgpu": ("solve", _LEETGPU),
    "tensara": ("run", _TENSARA),
    "gpumode": ("custom_kernel", _GPUMODE),
    "flashinfer": ("run", _FLASHINFER),
}
"""By format: the entry point that the program has, and how it is made."""


def reference_program(source: Source) -> tuple[str, bytes]:
    """The entry point and the text of a program that computes what a problem's reference does."""
    if source.format not in _PROGRAMS:
        raise HarnessError(f"no program is made of a reference of {source.format}")
    entry, made = _PROGRAMS[source.format]
    if parts := told_parts(source):
        lines = (f"{mine} = torch.no_grad()(reference.{its})\n" for its, mine in parts.items())
        entry, made = source.entry, _PARTS + "".join(lines)
    read = [each for each in source.files if each.name.endswith((".py", "definition.json"))]
    files = {each.name: each.text for each in read}
    text = f"FILES = {files!r}\nFIRST = {source.files[0].name!r}\n{_LOAD}{made}"
    return entry, text.encode()
