"""Sends and receives messages: each is one packet of JSON, descriptors travel beside it."""

import json
import os
import socket
from collections.abc import Mapping

from harness.wire.messages import MESSAGES, Message, parse
from harness.wire.validation import WireError, WireRecord

MAX_MESSAGE = 64 * 1024
"""Bytes of a packet."""
MAX_DESCRIPTION = 192 * 1024
"""Bytes of one from a process that describes a problem; Linux sends 208 KiB at once at most."""

_MAX_DESCRIPTORS = 4


class Closed(WireError):
    """The other side is gone, or does not read any more."""


def send(
    channel: socket.socket,
    message: Message,
    descriptors: tuple[int, ...] = (),
    *,
    most: int = MAX_MESSAGE,
) -> None:
    """Send one message of at most ``most`` bytes.

    Raises:
        WireError: the message is too large, or the other side is gone.
    """
    send_packed(channel, packed(message, most=most), descriptors)


def packed(message: Message, *, most: int = MAX_MESSAGE) -> bytes:
    """The packet of a message; WireError if it is larger than ``most`` bytes."""
    data = _encode(message).encode()
    if len(data) > most:
        raise WireError(f"message of {len(data)} bytes; the limit is {most}")
    return data


def send_packed(channel: socket.socket, data: bytes, descriptors: tuple[int, ...] = ()) -> None:
    """Send a packet; WireError if the other side is gone."""
    try:
        if descriptors:
            socket.send_fds(channel, [data], list(descriptors))
        else:  # that is written in Python, and this may lie between the end of calls and *done*
            channel.send(data)
    except OSError as error:
        raise Closed(f"the channel is closed: {error.strerror or error}") from error


_encode = json.JSONEncoder(separators=(",", ":"), default=WireRecord.to_json).encode


def receive(
    channel: socket.socket,
    known: Mapping[str, type[Message]] = MESSAGES,
    *,
    most: int = MAX_MESSAGE,
) -> tuple[Message, list[int]]:
    """Wait, as the socket does, for the next ``known`` message and the descriptors with it.

    It has at most ``most`` bytes.

    Raises:
        WireError: end of stream, a truncated packet, or something that is not a message.
    """
    try:
        data, descriptors, flags, _ = socket.recv_fds(channel, most, _MAX_DESCRIPTORS)
    except (BlockingIOError, TimeoutError):
        raise
    except OSError as error:
        raise Closed(f"the channel is closed: {error.strerror or error}") from error
    try:
        if not data:
            raise Closed("the channel is closed")
        if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
            raise WireError("a message is too large")
        return parse(data, known), descriptors
    except WireError:
        for fd in descriptors:
            os.close(fd)
        raise
