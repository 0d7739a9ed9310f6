"""Submitted files: one of them, model's outputs of up to 1 MiB, and whole folders."""

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

from harness.commands.choices import Choices
from harness.commands.jobs import Tally, job_batches
from harness.errors import UsageError
from harness.languages.read import read_solution
from harness.solution.contents import MAX_BYTES
from harness.solution.files import solution_files
from harness.solution.generation.extract import Extracted, extract
from harness.solution.model import Invalid
from tools.fuzzing.targets.target import PROBLEMS, Target, decoded, scratch

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


# ---- outputs of models ------------------------------------------------------------------------


def _repeated(piece: str) -> Callable[[int], str]:
    return lambda size: piece * (size // len(piece) + 1)


def _falling(size: int) -> str:
    longest = int((2 * size) ** 0.5)
    return "".join("`" * n + "markdown\n" for n in range(longest, 2, -1))


def _indented(size: int) -> str:
    return "".join("\t" * n + "~~~md\n" for n in range(int((2 * size) ** 0.5)))


_SHAPES: tuple[Callable[[int], str], ...] = (
    _falling,
    _indented,
    *map(
        _repeated,
        (
            "```\n", "~~~```", "````md\n```py\nx\n```\n````\n", "```markdown\n", "    ```py\nx\n",
            "<think>", "</think>\n", "<think></think>", "<code>", "<code>&lt;</code>", "<|end|>",
            "</s>", "`", " ", "\t", "\n", "/*", '"""', "// launch\n", "#include <x>\n", "{",
            "import x\n", "def solution(x): pass\n", "# Problem: vector-add\n", "Some words. ",
            "void solve(",
        ),
    ),
)  # fmt: skip


def read_dump(data: bytes) -> None:
    """A model's output: code that is in it, or why there is none; in shapes of up to 1 MiB.

    The first byte says how many of the bytes choose, three for each, a shape and its size.
    """
    count = data[0] % 5 if data else 0
    chosen, text = data[1 : 1 + 3 * count], decoded(data[1 + 3 * count :])
    parts = []
    for place in range(0, len(chosen) - 2, 3):
        shape, exponent, more = chosen[place : place + 3]
        parts.append(_SHAPES[shape % len(_SHAPES)]((1 << exponent % 20) + more))
        parts.append(text[place * len(text) // 12 : (place + 3) * len(text) // 12])
    whole = ("".join(parts) + text)[:MAX_BYTES]
    found = extract(whole)
    if isinstance(found, Extracted):
        assert len(found.text) <= len(whole)
        assert 1 <= found.generation.line <= whole.count("\n") + whole.count("\r") + 1
    else:
        assert found.message.isprintable()


# ---- folders ----------------------------------------------------------------------------------

_FILES = (
    "a.txt", "b.txt", "c.md", "a.py", "b.cu", "c.ptx", "d.CU", "e.cpp", "README.md", "\x1b[31m.txt",
    "two\nlines.txt", "\udcff\udcfe.txt", "re\u202eversed.txt", "-rf.txt", "=cmd|x.txt", ".txt",
    "x" * 240 + ".txt", "a b.txt", "z.zip", "n.ipynb",
)  # fmt: skip
_PLACES = ("solutions/vector-add/m", "solutions/nothing/m", "gen", "solutions/vector-add/m/deep")
_KINDS = ("file", "file", "file", "file", "folder", "dangling", "loop", "outside", "pipe", "socket")
_CONTENTS = (b"", b" \n", b"x" * (MAX_BYTES + 1), b"\xff\xfea\0", b"PK\x03\x04\xff", b"\0", b"\xe9")


def read_folder(data: bytes) -> None:
    """A folder of anything: each file becomes a job or is told with its reason, none is lost."""
    root = scratch() / "folder"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    for record in data.split(b"\n---\n")[:12]:
        _write(root, record)
    choices = Choices(
        files=(root,), problem=None, author=None, device="cpu", dtype=None, seed=None, case=None,
        arch="sm_90", shrink=False, language=None, watch=False, json_to=None, problems_dir=PROBLEMS,
    )  # fmt: skip
    try:
        files = solution_files(choices.files)
    except UsageError as error:
        assert str(error)
        return
    files.append(root / "gone.py")
    tally = Tally(files)
    if len(files) == 1:  # whose error ends the run
        return
    jobs = [job for batch in job_batches(files, choices, tally) for job in batch]
    assert len(jobs) + len(tally.lost) == len(files)
    for job in jobs:
        if isinstance(job.solution, Invalid):
            assert job.solution.message.isprintable()
    assert all(len(reason) < 1000 for reason in tally.lost.values())


def _write(root: Path, record: bytes) -> None:
    """A file by its first bytes: where, its name, its kind, and what is in it; then its words."""
    place, name, kind, content, rest = *record[:4].ljust(4, b"\0"), record[4:]
    folder = root / _PLACES[place % len(_PLACES)]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _FILES[name % len(_FILES)]
    if os.path.lexists(path):
        return
    match _KINDS[kind % len(_KINDS)]:
        case "file":
            known = content % (2 * len(_CONTENTS))
            path.write_bytes(_CONTENTS[known] if known < len(_CONTENTS) else rest)
        case "folder":
            path.mkdir()
        case "dangling":
            path.symlink_to("nowhere")
        case "loop":
            path.symlink_to(path.name)
        case "outside":
            path.symlink_to("/etc/passwd")
        case "pipe":
            os.mkfifo(path)
        case _:
            with socket.socket(socket.AF_UNIX) as server:
                if len(os.fsencode(path)) < 100:
                    server.bind(os.fsencode(path))


_DUMP = (
    b"# Problem: vector-add\n# Model: some/model\n\nIt is:\n```python\ndef solution(x): pass\n```\n"
)

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
    Target(
        name="dump",
        run=read_dump,
        seeds=(
            b"\x00" + _DUMP,
            *(bytes([1, shape, 14, 0]) + _DUMP for shape in range(len(_SHAPES))),
            bytes([3, 0, 19, 0, 4, 18, 0, 2, 18, 0]) + _DUMP,  # a mebibyte
        ),
        words=(
            "```markdown\n",
            "````md\n",
            "```python\n",
            "```\n",
            "~~~\n",
            "<think>",
            "</think>",
            "<code>",
            "</code>",
            "# Problem: ",
            "Tokens used: 4096\n",
            "def solution(",
            "__global__",
            ".entry k",
            "// launch: ",
            "\r",
            "\t",
            "    ",
            "</s>",
            "<|end|>",
        ),
        most=8192,
    ),
    Target(
        name="folder",
        run=read_folder,
        seeds=(
            b"\n---\n".join(bytes([0, name, 0, 13]) + _DUMP for name in range(12)),
            b"\n---\n".join(bytes([2, name, 0, 13]) + _DUMP for name in range(8, 20)),
            b"\n---\n".join(bytes([name % 4, name, name, name]) + _DUMP for name in range(12)),
            b"\n---\n".join(bytes([0, 0, 0, content]) for content in range(7)),
        ),
        words=("\n---\n", "# Problem: ", "gemm", "Vector Add", "# Model: ", "```python\n", "\x00"),
        most=16_384,
    ),
)
