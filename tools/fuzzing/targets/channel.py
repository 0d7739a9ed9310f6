"""What a hostile runner says on its channel."""

import json
import os
import socket
from types import SimpleNamespace
from typing import Any

from support.samples import failed

from harness.errors import MachineError
from harness.languages.build.cache import CacheEntry
from harness.languages.build.triton_target import outcome_of
from harness.records.build import Build
from harness.records.result import Result
from harness.session.channel import Channel
from harness.session.fault import Fault
from harness.session.reported import kernels_per_call
from harness.session.session import Session
from harness.wire import transport
from harness.wire.messages import MESSAGES, Compiled, FaultCode, Finished, Message, Prepared, parse
from harness.wire.validation import WireError
from tools.fuzzing.targets.target import ACCEPTED, HUGE, JSON_WORDS, WRONG, Target, render


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def _sent(data: bytes, descriptors: int = 0) -> socket.socket | None:
    """Our end of a channel on which a hostile runner has said ``data`` and closed its own."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        try:
            socket.send_fds(theirs, [data], [0] * descriptors)
        except OSError:  # larger than the kernel lets it send
            ours.close()
            return None
    return ours


def read_packet(data: bytes) -> None:
    """One packet with up to six descriptors: a message or a WireError, and nothing left open."""
    before = _descriptors()
    ours = _sent(data[1:], data[0] % 7 if data else 0)
    if ours is None:
        return
    with ours:
        try:
            message, received = transport.receive(ours)
        except WireError as error:
            assert str(error)
        else:
            assert isinstance(message, Message)
            for fd in received:
                os.close(fd)
    assert _descriptors() == before, "a descriptor was left open"


_EXPECTED = ("loaded", "mapped", "prepared", "ready", "finished", "compiled", "confined")


def hear_runner(data: bytes) -> None:
    """What a session makes of one packet: an answer or a fault that can be recorded."""
    choice = data[0] if data else 0
    ours = _sent(data[1:], choice // 7 % 3)
    if ours is None:
        return
    output = SimpleNamespace(text=lambda _: "its last words")
    sandbox: Any = SimpleNamespace(
        channel=ours, ended=lambda: 1, memory=lambda: 0, hides=lambda _: False,
        out_of_memory=lambda: False, output=output, resume=lambda: None,
    )  # fmt: skip
    channel = Channel(sandbox, host_bytes=1 << 30, sanitized=False)
    with ours:
        expected = _EXPECTED[choice % len(_EXPECTED)]
        if expected == "confined":
            session = object.__new__(Session)
            device = SimpleNamespace(kind="cpu", name="a machine")
            session.__dict__.update(_channel=channel, _device=device, layers=())
            try:
                session._open()
            except MachineError as error:
                assert str(error)
            else:
                assert all(isinstance(layer, str) for layer in session.layers)
            return
        kind: Any = MESSAGES[expected]
        answer = channel.receive(kind, 1.0)
    if isinstance(answer, Fault):
        assert answer.message
        failure = failed(answer.verdict, message=answer.message, cases=WRONG.cases)
        assert Result.from_json(failure.to_json()).to_json() == failure.to_json()
        return
    assert answer.type == expected
    if isinstance(answer, Finished):
        number = kernels_per_call(answer)
        assert number is None or 0 <= number <= 1e6
    if isinstance(answer, Prepared):
        assert answer.captured in (True, False)


def hear_compiled(data: bytes) -> None:
    """A runner's word on a Triton compilation: an outcome that can be kept and shown."""
    try:
        message = parse(data)
    except WireError:
        return
    if not isinstance(message, Compiled):
        return
    outcome = outcome_of(message, "its output", "solution.py")
    entry = CacheEntry(outcome=outcome, digests={})
    stored = json.dumps(entry.model_dump(mode="json"))
    read = CacheEntry.model_validate_json(stored).outcome
    build = Build(
        seconds=read.seconds, cached=False, target="cpu", log=read.log, kernels=read.kernels
    )
    if read.failure is None:
        render(ACCEPTED.model_copy(update={"build": build}))
    else:
        render(failed(read.failure.verdict, message=read.failure.message, build=build))


_ANSWERS = (
    b'{"type":"finished","kernels":1.5}',
    b'{"type":"prepared","captured":true}',
    b'{"type":"failed","fault":"exception","message":"ValueError: no\\nline two"}',
    b'{"type":"confined","version":1,"layers":["resource limits"]}',
    b'{"type":"loaded"}',
    b'{"type":"failed","fault":"cuda","message":"CUDA error 700: illegal address"}',
)
_COMPILED = (
    b'{"type":"compiled","status":"ok","message":"","line":null,"kernels":[{"name":"k",'
    b'"registers":32,"shared_bytes":1024}],"configurations":1,"seconds":1.5}',
    b'{"type":"compiled","status":"compile_error","message":"no such name","line":3,"kernels":[],'
    b'"configurations":0,"seconds":0.5}',
)

TARGETS = (
    Target(
        name="wire",
        run=read_packet,
        seeds=(*(bytes([i]) + a for i, a in enumerate(_ANSWERS)), b"\x03" + b"[" * 3000),
        words=JSON_WORDS,
        most=70_000,
    ),
    Target(
        name="session",
        run=hear_runner,
        seeds=tuple(bytes([i]) + a for a in _ANSWERS for i in range(14)),
        words=(*JSON_WORDS, *(f'"{f}"' for f in FaultCode), *(f'"{e}"' for e in _EXPECTED)),
        most=8192,
    ),
    Target(
        name="compiled",
        run=hear_compiled,
        seeds=(*_COMPILED, _COMPILED[0].replace(b"1024", HUGE)),
        words=("Infinity", "1e400"),
        most=8192,
    ),
)
