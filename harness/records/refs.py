"""The parts of a result that say what was graded, and where: problem, submission, machine."""

from typing import Literal

from pydantic import Field

from harness.records.fields import Count, Name, Record, Text


class ProblemRef(Record):
    """Which problem, at which version."""

    slug: Name
    title: Text
    hash: Name


Found = Literal["fence", "unclosed fence", "tag", "bare"]


class Generation(Record):
    """The raw output of a language model that a submission was taken from.

    What its header said (empty or None: nothing), what was cut as reasoning, and how the code was
    found in the rest: block number ``block`` of the ``blocks`` of its kind, from line ``line`` on.
    """

    model: Text = ""
    problem: Text = ""
    generated: Text = Field(default="", description="ISO 8601, or as it stands there")
    tokens: Count | None = None
    token_limit: Count | None = None
    finish: Text = ""
    reasoning_lines: Count = 0
    reasoning_closed: bool = True
    found: Found | None = None
    info: Text = ""
    block: Count = 0
    blocks: Count = 0
    line: Count = 0


class SolutionRef(Record):
    """Which submission. ``path`` is as the user gave it."""

    author: Text
    name: Text
    language: Text
    hash: Text
    path: Text
    generation: Generation | None = None


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


class Environment(Record):
    """What else a time depends on. Absent parts are empty."""

    harness: Name
    python: Text
    platform: Text
    torch: Text = ""
    triton: Text = ""
    driver: Text = ""
    toolkit: Text = ""
    sandbox: Text = ""
