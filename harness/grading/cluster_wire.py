"""What judges on other machines say: JSON, which the command checks as it checks records.

What the command says to them is pickled: whoever may give a cluster work may run anything there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from harness.errors import JudgeError, MachineError, ProblemError
from harness.grading.card_wire import Begun, Broken, Done, Phase, Ready, Steps, Unjudged
from harness.grading.error_parts import error_of, error_parts
from harness.problem.model import REFERENCE_FILE, STATEMENT_FILE
from harness.problem.package import Problem
from harness.records.refs import DeviceRef
from harness.records.result import Result

_MOST_BYTES = 64 << 20
"""Of one message."""
_ROOT = Path(__file__).parents[1]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


_Text = Annotated[str, Field(max_length=100_000)]
_Count = Annotated[int, Field(ge=0, le=1 << 53)]


class _Error(_Part):
    kind: _Text
    text: _Text
    diagnostics: list[Annotated[list[_Text | _Count], Field(min_length=4, max_length=4)]]


class _Ready(_Part):
    says: Literal["ready"] = "ready"
    device: DeviceRef


class _Phase(_Part):
    says: Literal["phase"] = "phase"
    name: _Text
    total: _Count | None


class _Steps(_Part):
    says: Literal["steps"] = "steps"
    steps: _Count
    note: _Text


class _Begun(_Part):
    says: Literal["begun"] = "begun"
    number: _Count


class _Done(_Part):
    says: Literal["done"] = "done"
    number: _Count
    result: str


class _Reported(_Part):
    says: Literal["reported"] = "reported"
    number: _Count
    text: str


class _Unjudged(_Part):
    says: Literal["unjudged"] = "unjudged"
    number: _Count
    error: _Error
    of_problem: bool


class _Broken(_Part):
    says: Literal["broken"] = "broken"
    error: _Error


class _Ended(_Part):
    says: Literal["ended"] = "ended"
    why: _Text


_Said = _Ready | _Phase | _Steps | _Begun | _Done | _Reported | _Unjudged | _Broken | _Ended
_ADAPTER: TypeAdapter[_Said] = TypeAdapter(Annotated[_Said, Field(discriminator="says")])


@dataclass(frozen=True, slots=True)
class Ended:
    """The judge's process has ended."""

    why: str


Message = Ready | Phase | Steps | Begun | Done | Unjudged | Broken | Ended


class Hello(_Part):
    """What a machine says of itself before it gets any work."""

    node: _Text
    """Ray's id of it."""
    address: _Text
    """Its address in the cluster."""
    harness: _Text
    """What :func:`code_hash` says there."""
    token: bool
    """Whether it does what it is told with the cluster's token alone."""
    open_to: list[_Text]
    """What a submission could do there, where the sandbox was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A problem's package, as far as its hash goes."""

    hash: str
    files: Mapping[str, bytes]

    @classmethod
    def of(cls, problem: Problem) -> "Package":
        """That of ``problem``, read from its folder.

        Raises:
            OSError: a file is gone.
        """
        paths = [problem.folder / STATEMENT_FILE, problem.folder / REFERENCE_FILE]
        paths += problem.baselines.values()
        names = {path.relative_to(problem.folder).as_posix(): path for path in paths}
        return cls(hash=problem.hash, files={k: p.read_bytes() for k, p in names.items()})

    def unpacked(self, root: Path) -> Problem:
        """The problem, loaded from a folder in ``root``.

        Raises:
            MachineError: it has another hash than at home.
        """
        from harness.problem.format.load import load_problem

        folder = root / self.hash
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        problem = load_problem(folder)
        if problem.hash != self.hash:
            raise MachineError(f"{problem.slug}: its files changed while they were read")
        return problem


@cache
def code_hash() -> str:
    """SHA-256 (hex) of all files of this harness but its problems: the same code judges alike."""
    digest = sha256()
    for path in sorted(_ROOT.rglob("*")):
        name = path.relative_to(_ROOT)
        if path.is_file() and not {"__pycache__", "problems"}.intersection(name.parts):
            content = path.read_bytes()
            digest.update(f"{name.as_posix()}|{len(content)}|".encode())
            digest.update(content)
    return digest.hexdigest()


def encode(message: object) -> bytes:
    """One message of a judge as JSON."""
    return _plain(message).model_dump_json().encode()


def _plain(message: object) -> _Said:
    match message:
        case Ready(about):
            return _Ready(device=about)
        case Phase(name, total):
            return _Phase(name=name, total=total)
        case Steps(steps, note):
            return _Steps(steps=steps, note=note)
        case Begun(number):
            return _Begun(number=number)
        case Done(number, Result() as result):
            return _Done(number=number, result=result.to_json())
        case Done(number, str() as text):
            return _Reported(number=number, text=text)
        case Unjudged(number, error, of_problem):
            return _Unjudged(number=number, error=_parts(error), of_problem=of_problem)
        case Broken(error, _):
            return _Broken(error=_parts(error))
        case Ended(why):
            return _Ended(why=why)
    raise TypeError(f"no message: {type(message).__name__}")


def _parts(error: JudgeError) -> _Error:
    parts: dict[str, Any] = error_parts(error)
    return _Error.model_validate(parts | {"diagnostics": [list(d) for d in parts["diagnostics"]]})


def decode(data: object) -> Message:
    """The message that :func:`encode` was given.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(data, bytes) or len(data) > _MOST_BYTES:
        raise ValueError("no message")
    try:
        return _typed(_ADAPTER.validate_json(data))
    except (ValidationError, KeyError, TypeError) as error:
        raise ValueError(f"no message: {error}") from error


def _typed(said: _Said) -> Message:
    match said:
        case _Ready():
            return Ready(said.device)
        case _Phase():
            return Phase(said.name, said.total)
        case _Steps():
            return Steps(said.steps, said.note)
        case _Begun():
            return Begun(said.number)
        case _Done():
            return Done(said.number, Result.from_json(said.result))
        case _Reported():
            return Done(said.number, said.text)
        case _Unjudged():
            return Unjudged(said.number, _error(said.error), said.of_problem)
        case _Broken():  # of that machine: others may have what it lacks
            return Broken(MachineError(str(_error(said.error))), final=False)
        case _Ended():
            return Ended(said.why)


def _error(parts: _Error) -> ProblemError | MachineError:
    error = error_of(parts.model_dump())
    return error if isinstance(error, ProblemError | MachineError) else MachineError(str(error))
