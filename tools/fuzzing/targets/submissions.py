"""Submitted files."""

from harness.languages.read import read_solution
from harness.solution.model import Invalid
from tools.fuzzing.targets.target import Target, scratch

_NAMES = ("tiled.cu", "plain.py", "plain.txt", "\x1b[31m.cu", "-rf.py", "a b.cu", "\udcff.py", "x.")


def read_submission(data: bytes) -> None:
    """A submitted file: a Solution or Invalid, whatever is in it and whatever it is called."""
    choice = data[0] if data else 0
    folder = scratch() / "solutions" / "gemm" / ("alice", "=cmd|x")[choice // 8 % 2]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _NAMES[choice % len(_NAMES)]
    path.write_bytes(data[1:])
    outcome = read_solution(path)
    path.unlink()
    if isinstance(outcome, Invalid):
        assert outcome.message.isprintable(), repr(outcome.message)
    else:
        # A dump's code is taken from what is around it.
        assert outcome.source == data[1:] or path.suffix == ".txt"
        assert outcome.display_path.isprintable()


TARGETS = (
    Target(
        name="submission",
        run=read_submission,
        seeds=(
            b'\x00// dtypes: float32, float16\nextern "C" void solution(float* a) {}\n',
            b"\x01import triton\n# dtypes: bfloat16\ndef solution(a): pass\n",
            b"rt triton\n# dtypes: bfloat16\ndef solution(a): pass\n",
            b"\x01from torch import (nn,\n  x)\n\timport triton.language as tl; import a, b\n",
            b"\xff\xfe\x00",
        ),
        words=("dtypes:", "float32", "import", "triton", "from", "'''", '"""', "\\\n", "\x00"),
    ),
)
