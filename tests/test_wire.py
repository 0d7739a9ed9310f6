"""The protocol: whatever arrives is a message or a WireError."""

import fcntl
import json
import mmap
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness import wire
from harness.device.base import sealed_memory
from harness.wire import Mailbox, WireError

Pair = tuple[socket.socket, socket.socket]


def _pair() -> Pair:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = _pair()
    with ours, theirs:
        ours.settimeout(5)
        yield ours, theirs


def _open_descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(), inside, max_size=3),
    max_leaves=4,
)


@settings(max_examples=50)
@given(st.dictionaries(st.text(), json_values, max_size=3), st.text(max_size=20))
def test_messages_arrive_as_they_were_sent(fields: dict[str, object], kind: str) -> None:
    ours, theirs = _pair()
    with ours, theirs:
        wire.send(theirs, {**fields, "type": kind})
        received, descriptors = wire.receive(ours)
    assert repr(received) == repr({**fields, "type": kind})  # NaN is not equal to itself
    assert descriptors == []


@given(
    st.binary(max_size=300)
    | st.text(max_size=100).map(str.encode)
    | json_values.map(lambda value: json.dumps(value).encode())
    | st.dictionaries(st.just("type"), json_values).map(lambda value: json.dumps(value).encode())
)
@example(b"")
@example(b"{}")
@example(b"[]")
@example(b'{"type": 5}')
@example(b'{"type": null}')
@example(b'"type"')
@example(b'{"type": "finished"} {"type": "finished"}')
@example(b"[" * 60_000)
@example(b'{"type":' * 8_000)
@example(b"1" * 60_000)
@example(b'{"type": "x", "n": ' + b"9" * 60_000 + b"}")
@example(b"\xff\xfe{\x00")
@example(b"\x00" * 100)
@example(b'{"type": "\\ud800"}')
@example(b"x" * wire.MAX_MESSAGE)
@example(b"x" * (wire.MAX_MESSAGE + 1))
@example(b'{"type": "x"}' + b" " * wire.MAX_MESSAGE)
def test_any_bytes_are_a_message_or_an_error(data: bytes) -> None:
    ours, theirs = _pair()
    with ours, theirs:
        theirs.send(data)
        try:
            message, descriptors = wire.receive(ours)
        except WireError as error:
            assert str(error)
        else:
            assert isinstance(message["type"], str)
            assert descriptors == []


def test_the_end_of_the_stream(pair: Pair) -> None:
    ours, theirs = pair
    theirs.close()
    with pytest.raises(WireError, match="closed"):
        wire.receive(ours)
    with pytest.raises(WireError, match="closed"):
        wire.send(ours, {"type": "run"})


def test_descriptors_travel(pair: Pair) -> None:
    ours, theirs = pair
    with open("/dev/null", "rb") as file:
        wire.send(theirs, {"type": "load"}, (file.fileno(), file.fileno()))
    message, descriptors = wire.receive(ours)
    assert message == {"type": "load"}
    assert len(descriptors) == 2
    for fd in descriptors:
        assert os.path.samestat(os.fstat(fd), Path("/dev/null").stat())
        os.close(fd)


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (b"not JSON", 3),
        (b'{"no": "type"}', 1),
        (b"x" * (wire.MAX_MESSAGE + 1), 2),
        (b'{"type": "finished"}', 20),  # more than anyone may send
    ],
)
def test_descriptors_of_a_bad_message_are_closed(pair: Pair, data: bytes, count: int) -> None:
    ours, theirs = pair
    before = _open_descriptors()
    socket.send_fds(theirs, [data], [0] * count)
    with pytest.raises(WireError):
        wire.receive(ours)
    assert _open_descriptors() == before


def test_a_message_that_is_too_large_is_not_sent(pair: Pair) -> None:
    ours, theirs = pair
    with pytest.raises(WireError, match="the limit is 65536"):
        wire.send(theirs, {"type": "failed", "message": "x" * wire.MAX_MESSAGE})
    wire.send(theirs, {"type": "failed", "message": "x" * wire.MAX_TEXT})
    assert len(wire.receive(ours)[0]["message"]) == wire.MAX_TEXT


def test_the_longest_fault_fits_whatever_its_characters() -> None:
    text = "\U0010ffff" * wire.MAX_TEXT  # twelve bytes each in JSON
    message = {
        "type": "failed",
        "fault": wire.FaultCode.EXCEPTION,
        "message": text[: wire.MAX_TEXT],
    }
    ours, theirs = _pair()
    with ours, theirs:
        wire.send(theirs, message)
        assert wire.receive(ours)[0] == message


def test_a_side_that_does_not_read_is_given_up(pair: Pair) -> None:
    ours, _ = pair
    ours.settimeout(0.05)
    with pytest.raises(WireError):
        for _ in range(10_000):
            wire.send(ours, {"type": "run", "round": 1})


def test_nothing_there_is_not_an_error_of_the_other_side(pair: Pair) -> None:
    ours, _ = pair
    ours.settimeout(0.01)
    with pytest.raises(TimeoutError):
        wire.receive(ours)


def test_faults_are_text() -> None:
    assert json.loads(json.dumps({"fault": wire.FaultCode.CUDA})) == {"fault": "cuda"}


def test_the_mailbox_is_shared() -> None:
    fd = sealed_memory("mailbox", wire.MAILBOX_BYTES)
    judge, runner = Mailbox(fd), Mailbox(fd)
    os.close(fd)
    assert (judge.go, judge.done) == (0, 0)
    judge.go = 7
    assert (runner.go, runner.done) == (7, 0)
    runner.done = 2**64 - 1
    assert (judge.go, judge.done) == (7, 2**64 - 1)
    judge.close()
    runner.close()


@given(st.binary(min_size=128, max_size=128))
def test_a_mailbox_full_of_anything_is_two_numbers(data: bytes) -> None:
    fd = sealed_memory("mailbox", wire.MAILBOX_BYTES)
    mailbox = Mailbox(fd)
    os.pwrite(fd, data, 0)
    os.close(fd)
    assert mailbox.go == int.from_bytes(data[:8], "little")
    assert 0 <= mailbox.done < 2**64
    mailbox.close()


class TestSealedMemory:
    def test_nobody_can_resize_it(self) -> None:
        fd = sealed_memory("arena", 3 * mmap.PAGESIZE)
        again = os.open(f"/proc/self/fd/{fd}", os.O_RDWR)  # as a runner might
        for size in (0, mmap.PAGESIZE, 100 * mmap.PAGESIZE):
            for descriptor in (fd, again):
                with pytest.raises(PermissionError):
                    os.ftruncate(descriptor, size)
        with pytest.raises(OSError):
            os.posix_fallocate(again, 0, 100 * mmap.PAGESIZE)
        assert os.fstat(fd).st_size == 3 * mmap.PAGESIZE
        os.close(fd)
        os.close(again)

    def test_nobody_can_seal_it_further(self) -> None:
        fd = sealed_memory("arena", mmap.PAGESIZE)
        with pytest.raises(PermissionError):
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
        os.pwrite(fd, b"x", 0)
        os.close(fd)

    def test_it_is_not_inherited(self) -> None:
        fd = sealed_memory("arena", mmap.PAGESIZE)
        assert not os.get_inheritable(fd)
        os.close(fd)
