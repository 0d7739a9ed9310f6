"""One record for each message of the protocol."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Literal

from harness.wire.arguments import (
    Argument,
    CompiledKernel,
    Construct,
    KernelLaunch,
    ListedWeight,
    Parameters,
    ScalarArgument,
    TensorShape,
)
from harness.wire.validation import WireError, WireRecord

VERSION = 11
"""Of the protocol, raised with every change to it; the judge refuses runners of another one."""

MAX_TEXT = 4 * 1024
"""Characters of a fault's text: a message has room for them even if each takes twelve bytes."""


class FaultCode(StrEnum):
    """The kinds of faults that a runner reports; any of them only harms its own verdict."""

    EXCEPTION = "exception"
    CUDA = "cuda"
    MEMORY = "memory"
    UNSUPPORTED = "unsupported"
    OUT_OF_BOUNDS = "out_of_bounds"
    BARRIER = "barrier"
    NO_ENTRY = "no_entry"
    COMPILE = "compile"


CompileStatus = Literal["ok", "compile_error", "no_entry_point", "unsupported", "failed"]


class Message(WireRecord):
    """Base of all messages; the type of each is its name in lower case."""

    answers: ClassVar[tuple[str, ...]] = ()
    """Types of the messages that follow when all goes well, in order."""
    descriptors: ClassVar[Mapping[str, str]] = {}
    """The descriptors that travel with it, in order, each with its meaning."""

    def __init_subclass__(cls) -> None:
        cls.type = cls.__name__.lower()


class Answer(Message):
    """Base of what a runner sends. Once submitted code runs, it may have sent it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork(Message):
    """Start a sandbox: sent to a zygote, a process that has loaded torch and forks runners.

    There is no answer: the pipe for the status holds the process id and, after the end, the exit
    status, a line each.
    """

    descriptors: ClassVar[Mapping[str, str]] = {
        "channel": "the runner's end of its channel",
        "life": "reading end of a pipe that closes when the judge ends",
        "output": "where the runner prints",
        "status": "pipe for the process id and the exit status",
    }
    environment: dict[str, str]
    """The runner's whole environment."""
    spec: str
    """The sandbox: `harness.sandbox.spec.SandboxSpec` as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confined(Answer):
    """The first message of all: the process is confined, and nothing submitted has been loaded.

    Its fields never change, so that a runner of another version is understood as far as this.
    """

    version: int
    """Version of the protocol that the runner speaks."""
    layers: tuple[str, ...]
    """The layers that confine it, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Open(Message):
    """Reach the device; nothing submitted has run, so all faults until here are the machine's."""

    answers: ClassVar[tuple[str, ...]] = ("opened",)
    device: Literal["cpu", "cuda"]
    """The kind of device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened(Answer):
    """The device can be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(Message):
    """Write down what extensions of PyTorch a Python submission asks for; none is there yet."""

    answers: ClassVar[tuple[str, ...]] = ("recorded",)
    descriptors: ClassVar[Mapping[str, str]] = {
        "artifact": "the Python source",
        "asked": "where to write each request, a line of JSON",
    }
    interpret: bool
    """Whether Triton runs in its interpreter."""
    arch: int
    """The architecture of the card that torch is to pretend: 90 for `sm_90`."""
    path: tuple[str, ...]
    """The runner's `sys.path`."""
    values: dict[str, int | float]
    """A size or a scalar each: what `ModelNew` is made with."""
    construct: Construct | None = None
    """The same where its constructor does not ask for those."""
    entry: str = "solution"
    """Name of what is called; of several functions with a comma and a space between."""
    parameters: Parameters = ()
    """Name and kind of each of the problem's parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded(Answer):
    """The file was imported, and its `ModelNew` made, as far as that went."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer(Message):
    """What became of one extension that the submission asks for; sent before `load`."""

    answers: ClassVar[tuple[str, ...]] = ("offered",)
    descriptors: ClassVar[Mapping[str, str]] = {"library": "the library, if it was built"}
    digest: str
    """Hash of the request."""
    error: str = ""
    """What is raised instead where it was not built."""
    refused: bool = False
    """Whether that is for what was asked, not for a complaint of a compiler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered(Answer):
    """The extension is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load(Message):
    """Load a submission, or another program in its place."""

    answers: ClassVar[tuple[str, ...]] = ("loaded",)
    descriptors: ClassVar[Mapping[str, str]] = {
        "artifact": "the shared library, PTX or Python source",
        "mailbox": "the page with *go* and *done*",
        "kernels": "kernels that Triton has compiled before, where there are some",
        "asked": "where to write extensions that were not offered, with `extensions`",
    }
    kind: Literal["library", "ptx", "python"]
    """The kind of artifact."""
    interpret: bool = False
    """Whether Triton runs in its interpreter."""
    language: str = ""
    """The framework that Python source is written in; empty for none."""
    extensions: bool = False
    """Whether extensions of PyTorch are answered with those that were offered."""
    path: tuple[str, ...]
    """The runner's `sys.path`."""
    entry: str = "solution"
    """Name of what is called; of several functions with a comma and a space between."""
    parameters: Parameters = ()
    """Name and kind of each of the problem's parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded(Answer):
    """The program is loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListWeights(Message):
    """Make the submission's module, and say what weights it has; nothing is called."""

    answers: ClassVar[tuple[str, ...]] = ("weightslisted",)
    construct: Construct
    """What it is made with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsListed(Answer):
    """Decides only whose values the module is given: one that lies gets wrong ones."""

    weights: tuple[ListedWeight, ...]
    """Its parameters, then its buffers; none if they are more than a message has room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compile(Message):
    """Compile what a Triton submission launches, for a card that need not be there."""

    answers: ClassVar[tuple[str, ...]] = ("compiled",)
    descriptors: ClassVar[Mapping[str, str]] = {
        "artifact": "the Python source",
        "kernels": "where to leave what is compiled; with it all configurations are built",
    }
    calls: tuple[tuple[TensorShape | ScalarArgument, ...], ...]
    """The arguments of each call to make."""
    arch: int
    """The card's architecture: 90 for `sm_90`."""
    seconds: float
    """Processor time after which nothing more is begun."""
    path: tuple[str, ...] = ()
    """The runner's `sys.path`."""
    entry: str = "solution"
    """Name of what is called; of several functions with a comma and a space between."""
    parameters: Parameters = ()
    """Name and kind of each of the problem's parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled(Answer):
    """The outcome of all launches."""

    status: CompileStatus
    """`compile_error`: a kernel cannot be built, or the card could not hold it. `unsupported`: the
    file asks for what cannot be emulated. `failed`: the Python around the kernels raised, which is
    no verdict, since outputs hold nothing here."""
    message: str
    """The error's text."""
    line: int | None
    """The error's line of the submitted file."""
    kernels: tuple[CompiledKernel, ...]
    """One entry for each kernel that was built."""
    configurations: int
    """Configurations that autotuners had to choose from, in all."""
    seconds: float
    """Time that it took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Map(Message):
    """Map the judge's buffers."""

    answers: ClassVar[tuple[str, ...]] = ("mapped",)
    descriptors: ClassVar[Mapping[str, str]] = {"arena": "memory of the host or of the device"}
    bytes: int
    """Size of the arena."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped(Answer):
    """The arena is mapped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmap(Message):
    """Let go of the judge's buffers, so that their memory is free once the judge has, too."""

    answers: ClassVar[tuple[str, ...]] = ("unmapped",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmapped(Answer):
    """No arena is mapped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepare(Message):
    """Bind a batch of calls, warm up, record: before the inputs that count exist."""

    answers: ClassVar[tuple[str, ...]] = ("prepared",)
    calls: int
    """Number of calls in the batch."""
    arguments: tuple[Argument, ...]
    """One entry for each parameter of the problem."""
    warmups: int = 0
    """Calls to make before the batch is ready."""
    capture: bool = False
    """Whether to record the calls into one CUDA graph, where that can be done."""
    order: int = 0
    """The order in which the CPU executor runs threads."""
    seed: int = 0
    """Seed of that order; not that of the inputs, which never leaves the judge."""
    launches: tuple[KernelLaunch, ...] = ()
    """The launches of each call of a PTX submission."""
    construct: Construct | None = None
    """What a class is made with; null where its constructor asks for sizes and scalars."""
    tidy: bool = False
    """Whether memory that is kept for later calls is given back after each: others need it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared(Answer):
    """The batch can be run."""

    captured: bool
    """Whether the calls were recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Message):
    """Wait for *go*, make all calls of the batch, wait for the device, write *done*."""

    answers: ClassVar[tuple[str, ...]] = ("ready", "finished")
    round: int
    """The number that *go* and *done* will have."""
    cpu: int | None = None
    """The processor to launch recorded calls from; null for any."""
    profiled: bool = False
    """Whether to tell a profiler where the calls begin and end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready(Answer):
    """The runner waits for *go*."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished(Answer):
    """All calls are made; sent before *done*. The counts are only shown, and judge nothing."""

    kernels: object = None
    """Kernels per call, a number; null, and anything that cannot be one, where it is unknown."""
    copied: object = None
    """Outputs per call that were copied into place, a whole number; likewise."""
    returned: object = None
    """What a call returned although its entry point fills outputs: `tensor`, `tensors` or `number`;
    likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(Answer):
    """Instead of any answer but `confined`: something went wrong."""

    fault: FaultCode
    """The kind of fault."""
    message: str = ""
    """Its text; the judge cuts it to 4000 characters."""


MESSAGES: Mapping[str, type[Message]] = {
    message.type: message
    for message in (
        *(Fork, Confined, Open, Opened, Record, Recorded, Offer, Offered, Load, Loaded),
        *(ListWeights, WeightsListed, Compile, Compiled, Map, Mapped),
        *(Unmap, Unmapped, Prepare, Prepared, Run, Ready, Finished, Failed),
    )
}
"""All messages by their types, in the order of a session."""


def parse(data: bytes, known: Mapping[str, type[Message]] = MESSAGES) -> Message:
    """Read one message of the ``known`` ones, by their types.

    Raises:
        WireError: it is not JSON, of no known type, or not as its record declares.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WireError("a message is not JSON") from error
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        raise WireError("a message has no type")
    if kind not in known:
        raise WireError(f"no message has the type {kind[:40]!a}")
    return known[kind].from_json(value)
