"""Which problem of a checkout, and which output of which model, the names of files say.

KernelBench writes ``runs/<run>/level_1_problem_19_sample_0_kernel.py``, and beside it
``generation_config.yaml`` with the model's name.
"""

import os
import re
import stat
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

CONFIG = "generation_config.yaml"
"""What KernelBench writes beside the samples of a run."""

_MAX_CONFIG = 64 << 10
_FILE = re.compile(r"level_?(\d{1,4})_problem_?(\d{1,6})_sample_?(\d{1,9})(_prompt)?(?![0-9])")
_MODEL = re.compile(r"^model_name:[ \t]*(.*?)[ \t]*(?:#.*)?$", re.MULTILINE)
_UNNAMED = ("", "none", "null", "~")
_LEVEL = re.compile(r"\blevel[ _-]?(\d{1,4})\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?:problem[ _-]?)?(\d{1,6})(?![0-9])", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The problem that an output of a model is for, as far as it says; all of it untrusted."""

    level: int | None = None
    """The level of a KernelBench problem."""
    number: int | None = None
    """Its number in the level: that at the start of its file's name."""
    name: str = ""
    """Its name, or that of its file or definition."""
    reference: str = ""
    """The problem's own text, where a record repeats it."""

    def __bool__(self) -> bool:
        """Whether anything is said."""
        return self != Wanted()

    def __str__(self) -> str:
        """It in words: ``level 1, problem 19``."""
        level = "" if self.level is None else f"level {self.level}"
        number = "" if self.number is None else f"problem {self.number}"
        name = repr(self.name) if self.name and self.number is None else ""
        return ", ".join(filter(None, (level, number, name))) or "the problem whose text it has"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileName:
    """What a file's name says."""

    wanted: Wanted
    model: str
    """The model of the run, by its configuration; else the run's name."""
    sample: str
    """Which of the model's outputs for the problem it is."""


def named(path: Path) -> FileName | None:
    """What the name of a sample says; None for other files. Looks at nothing but the run's config.

    The prompt that a run may keep beside each sample is none.
    """
    found = _FILE.match(path.name)
    if found is None or found[4]:
        return None
    folder = Path(os.path.abspath(path)).parent  # noqa: PTH100 - links lead elsewhere
    return FileName(
        wanted=Wanted(level=int(found[1]), number=int(found[2])),
        model=_configured(folder) or folder.name,
        sample=str(int(found[3])),
    )


def is_prompt(path: Path) -> bool:
    """Whether a run keeps a prompt in the file."""
    found = _FILE.match(path.name)
    return bool(found and found[4])


def said(name: str) -> Wanted:
    """What a name says: ``level1/19_ReLU.py``, ``19_ReLU``, ``rmsnorm_h4096``."""
    level = _LEVEL.search(name.replace("/", " "))
    last = re.split(r"[/\\]", name.strip())[-1]
    number = _NUMBER.match(last)
    return Wanted(
        level=int(level[1]) if level else None,
        number=int(number[1]) if number else None,
        name=last,
    )


@lru_cache(maxsize=64)
def _configured(folder: Path) -> str:
    """The model that the configuration of a run names; empty if there is none."""
    try:
        path = folder / CONFIG
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return ""
        with open(path, "rb") as file:
            found = _MODEL.search(file.read(_MAX_CONFIG).decode("utf-8", "replace"))
    except OSError:
        return ""
    model = found[1].strip("\"'") if found else ""
    return "" if model.lower() in _UNNAMED else model
