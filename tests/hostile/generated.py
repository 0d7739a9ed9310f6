"""Hostile submissions that should not lie in a repository: written when they are wanted."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

CUDA = """\
__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
}
"""
PYTHON = "def solution(x, y, z, n):\n    z.copy_(x + y)\n"
"""Right as they are, so that what is wrong is the rest."""


@dataclass(frozen=True, slots=True)
class Spec:
    """As :class:`corpus.Entry`; ``write`` leaves the submission in a folder and returns where."""

    folder: str
    name: str
    tries: str
    threat: str
    verdict: str
    write: Callable[[Path], Path]
    never_shows: str = ""


def _file(name: str, content: str | bytes) -> Callable[[Path], Path]:
    data = content.encode() if isinstance(content, str) else content

    def write(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(data)
        return path

    return write


def _link(target: str, name: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).symlink_to(target)
        return folder / name

    return write


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.cu")
    return folder / "pipe.cu"


def _huge(folder: Path) -> Path:
    path = folder / "huge.cu"
    with path.open("wb") as file:
        file.write(CUDA.encode())
        file.truncate(50 << 20)  # zeros
    return path


def _includes_reference(folder: Path) -> Path:
    reference = ROOT / "problems" / "vector-add" / "reference.py"
    return _file("reference.cu", f'#include "{reference}"\n{CUDA}')(folder)


def _spec(
    name: str,
    tries: str,
    verdict: str,
    write: Callable[[Path], Path],
    *,
    threat: str = "source",
    never_shows: str = "",
) -> Spec:
    return Spec("compiler", name, tries, threat, verdict, write, never_shows)


SPECS = (
    _spec(
        "not_utf8.cu",
        "Holds bytes that are no text.",
        "invalid_submission",
        _file("not_utf8.cu", b"// \xff\xfe\xfa\n" + CUDA.encode()),
    ),
    _spec(
        "nul_bytes.py",
        "Holds a NUL byte, behind which some parsers see nothing.",
        "invalid_submission",
        _file("nul_bytes.py", PYTHON + "# \0\n"),
    ),
    _spec(
        "utf16.cu",
        "Is written in another encoding.",
        "invalid_submission",
        _file("utf16.cu", CUDA.encode("utf-16")),
    ),
    _spec("huge.cu", "Is 50 MB long.", "invalid_submission", _huge),
    _spec(
        "name_is_a_flag.cu",
        "Its name would be an option of the compiler.",
        "invalid_submission",
        _file("-o x.cu", CUDA),
    ),
    _spec(
        "name_is_a_command.cu",
        "Its name would be a command of a shell.",
        "invalid_submission",
        _file("$(id).cu", CUDA),
    ),
    _spec(
        "name_has_a_newline.py",
        "Its name would be two lines of a report.",
        "invalid_submission",
        _file("a\nb.py", PYTHON),
    ),
    _spec(
        "name_is_no_text.cu",
        "Its name has bytes that are no text.",
        "invalid_submission",
        lambda folder: _file(os.fsdecode(b"a\xff.cu"), CUDA)(folder),
    ),
    _spec(
        "link.cu",
        "Is a symbolic link to a file of the system.",
        "invalid_submission",
        _link("/etc/passwd", "link.cu"),
        threat="66",
        never_shows=":/root:",
    ),
    _spec("pipe.cu", "Is a pipe that nobody writes to.", "invalid_submission", _pipe),
    _spec(
        "deep_nesting.py",
        "Is nested so deeply that Python's parser breaks.",
        "compile_error",
        _file("deep_nesting.py", PYTHON + "_ = " + "(" * 90_000 + ")" * 90_000 + "\n"),
    ),
    _spec(
        "includes_the_reference.cu",
        "Has the problem's reference quoted in the compiler's messages.",
        "compile_error",
        _includes_reference,
        threat="66",
        never_shows="def reference",
    ),
)
