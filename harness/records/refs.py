"""The parts of a result that say what was graded, and where: problem, submission, machine."""

from typing import Literal

from harness.records.fields import Count, Name, Record, Text

FORMATS = ("kernelbench", "leetgpu", "tensara", "gpumode", "flashinfer")
"""Formats of others; the slugs of their problems begin with these names."""

MEASURED = "-measured"
"""How the slug of a problem ends that is judged by a measured tolerance instead of its own."""


class ProblemRef(Record):
    """Which problem, at which version."""

    slug: Name
    title: Text
    hash: Name
    format: Text = ""
    """The foreign format that it is in; empty for a package."""


Found = Literal["fence", "unclosed fence", "tag", "bare"]


class Generation(Record):
    """The raw output of a language model that a submission was taken from."""

    model: Text = ""
    """The model, as the header of the output says, or a name or key; empty if none does."""
    problem: Text = ""
    """The problem, likewise: a slug, or ``level 1, problem 19``."""
    sample: Text = ""
    """Which of the model's outputs for the problem it is, by the file's name or a key."""
    generated: Text = ""
    """When, by the header: in ISO 8601 if it could be read."""
    tokens: Count | None = None
    """Tokens of the output, by the header; None if it does not say."""
    token_limit: Count | None = None
    """The limit on them, likewise."""
    finish: Text = ""
    """Why it ended, by the header."""
    reasoning_lines: Count = 0
    """Lines cut as reasoning, without empty ones."""
    reasoning_closed: bool = True
    """Whether the reasoning, if there is any, ends."""
    found: Found | None = None
    """How the code was found in the rest; None if there was none."""
    info: Text = ""
    """What the fence says of its language."""
    block: Count = 0
    """Which block of its kind it is, from 1."""
    blocks: Count = 0
    """How many of its kind there are."""
    line: Count = 0
    """Its first line in the output, from 1."""


class SolutionRef(Record):
    """Which submission."""

    author: Text
    """Who submitted it."""
    name: Text
    """Name of the submitted file."""
    language: Text
    """Name of the language."""
    hash: Text
    """SHA-256 of the submitted file."""
    path: Text
    """The file, as the user gave it."""
    generation: Generation | None = None
    """Where the code came from, if from a model's raw output."""


class DeviceRef(Record):
    """Where it ran. CPU results are never mixed with a GPU's board."""

    kind: Literal["cuda", "cpu"]
    name: Text

    @property
    def emulated(self) -> bool:
        """Kernels were executed by an emulator: times are functional, and never ranked."""
        return self.kind == "cpu"

    @property
    def label(self) -> str:
        """The name that people see, ``cpu (…)`` or the card's: untrusted as it came."""
        return f"cpu ({self.name})" if self.emulated else self.name


def major(version: str) -> str:
    """The major version: results of different ones are ranked apart."""
    return version.partition(".")[0]


class Environment(Record):
    """What else a time depends on; absent parts are empty."""

    harness: Name
    """Version of the harness."""
    python: Text
    """Version of Python."""
    platform: Text
    """Operating system and processor."""
    torch: Text = ""
    """Version of PyTorch."""
    triton: Text = ""
    """Version of Triton."""
    driver: Text = ""
    """Version of the CUDA driver."""
    toolkit: Text = ""
    """Version of the CUDA compiler."""
    sandbox: Text = ""
    """What confined the submission."""

    @property
    def harness_major(self) -> str:
        """Major version of the harness."""
        return major(self.harness)
