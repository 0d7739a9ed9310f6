"""Packets: whatever arrives is a message or a WireError, and no descriptor stays open."""

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness.wire import messages, transport
from harness.wire.messages import MAX_TEXT, MESSAGES, Failed, FaultCode, Message
from harness.wire.transport import MAX_MESSAGE
from harness.wire.validation import WireError

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


st.register_type_strategy(object, json_values)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(list(MESSAGES.values())).flatmap(st.from_type))
def test_messages_arrive_as_they_were_sent(message: Message) -> None:
    ours, theirs = _pair()
    with ours, theirs:
        transport.send(theirs, message)
        received, descriptors = transport.receive(ours)
    assert repr(received) == repr(message)  # NaN is not equal to itself
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
@example(b"x" * MAX_MESSAGE)
@example(b"x" * (MAX_MESSAGE + 1))
@example(b'{"type": "x"}' + b" " * MAX_MESSAGE)
def test_any_bytes_are_a_message_or_an_error(data: bytes) -> None:
    ours, theirs = _pair()
    with ours, theirs:
        theirs.send(data)
        try:
            message, descriptors = transport.receive(ours)
        except WireError as error:
            assert str(error)
        else:
            assert isinstance(message, Message)
            assert descriptors == []


def test_both_ends_report_a_closed_channel(pair: Pair) -> None:
    ours, theirs = pair
    theirs.close()
    with pytest.raises(WireError, match="closed"):
        transport.receive(ours)
    with pytest.raises(WireError, match="closed"):
        transport.send(ours, messages.Ready())


def test_descriptors_arrive_with_their_message(pair: Pair) -> None:
    ours, theirs = pair
    with open("/dev/null", "rb") as file:
        transport.send(theirs, messages.Ready(), (file.fileno(), file.fileno()))
    message, descriptors = transport.receive(ours)
    assert message == messages.Ready()
    assert len(descriptors) == 2
    for fd in descriptors:
        assert os.path.samestat(os.fstat(fd), Path("/dev/null").stat())
        os.close(fd)


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (b"not JSON", 3),
        (b'{"no": "type"}', 1),
        (b'{"type": "map"}', 4),
        (b"x" * (MAX_MESSAGE + 1), 2),
        (b'{"type": "finished"}', 20),  # more than anyone may send
    ],
)
def test_descriptors_of_a_bad_message_are_closed(pair: Pair, data: bytes, count: int) -> None:
    ours, theirs = pair
    before = _open_descriptors()
    socket.send_fds(theirs, [data], [0] * count)
    with pytest.raises(WireError):
        transport.receive(ours)
    assert _open_descriptors() == before


def test_a_message_that_is_too_large_is_not_sent(pair: Pair) -> None:
    ours, theirs = pair
    with pytest.raises(WireError, match="the limit is 65536"):
        transport.send(theirs, Failed(fault=FaultCode.CUDA, message="x" * MAX_MESSAGE))
    longest = Failed(fault=FaultCode.CUDA, message="x" * MAX_TEXT)
    transport.send(theirs, longest)
    assert transport.receive(ours)[0] == longest


def test_the_longest_fault_fits_whatever_its_characters() -> None:
    # Twelve bytes each in JSON.
    message = Failed(fault=FaultCode.OUT_OF_BOUNDS, message="\U0010ffff" * MAX_TEXT)
    ours, theirs = _pair()
    with ours, theirs:
        transport.send(theirs, message)
        assert transport.receive(ours)[0] == message


def test_send_to_a_side_that_does_not_read_raises(pair: Pair) -> None:
    ours, _ = pair
    ours.settimeout(0.05)
    with pytest.raises(WireError):
        for _ in range(10_000):
            transport.send(ours, messages.Run(round=1))


def test_an_empty_channel_is_a_timeout_not_an_error_of_the_other_side(pair: Pair) -> None:
    ours, _ = pair
    ours.settimeout(0.01)
    with pytest.raises(TimeoutError):
        transport.receive(ours)
