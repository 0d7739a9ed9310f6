"""Starting points: files that build and run, but compute nothing, written from a problem's data.

A file follows from the front matter alone: the entry point, a comment on each parameter, where an
element lies, a kernel per output with its bounds check, the launches. It is graded WRONG_ANSWER
until it computes something.
"""

import getpass
import os
import re
import shlex
import subprocess
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.errors import UsageError
from harness.frameworks import ALL_DTYPES, FRAMEWORKS
from harness.problem.package import Problem
from harness.starter import cuda, python
from harness.starter.rendering import TEMPLATES
from harness.text.output import write_whole
from harness.text.plain import plain
from harness.text.system_errors import cannot_write

ANONYMOUS = "me"
_MAX_NAME = 32
_GIT_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Starter:
    """The first file in a language: its name, and what writes it for a problem and its command."""

    file: str
    write: Callable[[Problem, str], str]


def _starter(file: str, template: Path, title: str, takes: Collection[str] = ALL_DTYPES) -> Starter:
    return Starter(file, partial(python.text, template=template, title=title, takes=takes))


STARTERS = {
    "cuda": Starter("kernel.cu", cuda.text),
    "triton": _starter("triton_kernel.py", TEMPLATES / "triton.py.jinja", "Triton"),
    **{f.name: _starter(f.starter, f.template, f.title, f.takes) for f in FRAMEWORKS.values()},
    "python": _starter("pytorch.py", TEMPLATES / "pytorch.py.jinja", "PyTorch"),
}
"""By the name of the language. No file is called ``triton.py`` or like another package: beside
others it would be imported in its place."""


def starter_text(problem: Problem, language: str, command: str) -> str:
    """The contents of the file; ``command`` is how it is checked, for the comment on top.

    Raises:
        UsageError: the problem declares too little, or none of its data types suits the language.
    """
    if not problem.complete:
        raise UsageError(f"{problem.slug} says too little: " + "; ".join(problem.missing))
    return STARTERS[language].write(problem, command)


def default_path(problem: Problem, language: str, author: str) -> Path:
    """The file's default place, in a folder that names problem and author."""
    return Path("solutions") / problem.slug / author / STARTERS[language].file


def check_command(path: Path, problem: Problem, language: str) -> str:
    """The command that judges the file at ``path``.

    Raises:
        UsageError: a file of that name is not taken for one in ``language``.
    """
    suffix = Path(STARTERS[language].file).suffix
    if path.suffix != suffix:
        raise UsageError(f"{plain(str(path))}: a file in {language} ends in {suffix}")
    parts = path.absolute().parts
    placed = len(parts) >= 4 and parts[-4] == "solutions" and parts[-3] == problem.slug
    option = "" if placed else f" --problem {problem.slug}"
    return f"harness check {shlex.quote(str(path))}{option}"


def author_name() -> str:
    """The user's name, from git or the system, as a folder's name."""
    return _safe(_git_name()) or _safe(_login()) or ANONYMOUS


def _git_name() -> str:
    try:
        done = subprocess.run(
            ["git", "config", "user.name"],
            capture_output=True,
            check=False,
            timeout=_GIT_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def _login() -> str:
    try:
        return os.environ.get("USER") or getpass.getuser()
    except (OSError, KeyError):
        return ""


def _safe(name: str) -> str:
    """``name`` in the letters, digits and - that an author may have; "" if none is left."""
    ascii_ = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_.lower()).strip("-")[:_MAX_NAME].strip("-")


def write_starter(path: Path, text: str, *, force: bool) -> None:
    """Write the file, and the folders it needs; an existing file stays unless ``force``.

    Raises:
        UsageError: there is a file already, or it cannot be written.
        MachineError: the machine failed, as when the disk is full; the old file is unchanged.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error
    if not force and os.path.lexists(path):
        raise UsageError(f"{plain(str(path))} exists: --force overwrites it")
    write_whole(path, text)
