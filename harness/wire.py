"""The protocol between judge and runner: small JSON messages over a Unix socket, and a mailbox.

Each message is one packet (``SOCK_SEQPACKET``), at most :data:`MAX_MESSAGE` bytes of JSON with a
``type``; file descriptors travel beside it. What the judge receives is data to validate, never
objects and never numbers to believe. The mailbox is one shared page with two counters: the judge
writes *go*, the runner works and writes *done*.

==============  =========================================================  ====================
judge → runner  fields                                                     answered by
==============  =========================================================  ====================
``open``        ``device``                                                 ``opened``
``load``        ``kind``, ``interpret``, ``language``, ``path``,           ``loaded``
                ``entry``, ``parameters``; descriptors: artifact,
                mailbox
``compile``     ``arguments``, ``arch``, ``path``, ``entry``,              ``compiled``
                ``parameters``; descriptor: artifact
``map``         ``bytes``; descriptor: arena                               ``mapped``
``prepare``     ``calls``, ``arguments``, ``warmups``, ``capture``,        ``prepared``
                ``order``, ``seed``, ``launches``                          (``captured``)
``run``         ``round``                                                  ``ready``
*go*            (mailbox)                                                  ``finished`` (where they
                                                                           are counted ``kernels``
                                                                           and ``copied`` outputs
                                                                           per call), *done*
==============  =========================================================  ====================

Any answer may be ``failed`` (``fault``, ``message``) instead; the first packet of all is
``confined`` (``layers``), sent before submitted code is loaded.
"""

import json
import mmap
import os
import socket
from enum import StrEnum
from typing import Any

VERSION = 1
MAX_MESSAGE = 64 * 1024
MAX_TEXT = 4 * 1024
"""Characters of a fault's text: a message has room for them even if each takes twelve bytes."""
_MAX_DESCRIPTORS = 4
_GO, _DONE = 0, 8
MAILBOX_BYTES = 4096


class FaultCode(StrEnum):
    """What a runner may say went wrong. It can only ever harm its own verdict."""

    EXCEPTION = "exception"
    CUDA = "cuda"
    MEMORY = "memory"
    UNSUPPORTED = "unsupported"
    OUT_OF_BOUNDS = "out_of_bounds"
    BARRIER = "barrier"
    NO_ENTRY = "no_entry"
    COMPILE = "compile"


class WireError(Exception):
    """The other side broke the protocol: closed, oversized, not JSON, not the expected message."""


class Closed(WireError):
    """The other side is gone, or does not read any more."""


Message = dict[str, Any]


def send(channel: socket.socket, message: Message, descriptors: tuple[int, ...] = ()) -> None:
    """Send one message.

    Raises:
        WireError: the message is too large, or the other side is gone.
    """
    data = json.dumps(message, separators=(",", ":"), allow_nan=True).encode()
    if len(data) > MAX_MESSAGE:
        raise WireError(f"message of {len(data)} bytes; the limit is {MAX_MESSAGE}")
    try:
        socket.send_fds(channel, [data], list(descriptors))
    except OSError as error:
        raise Closed(f"the channel is closed: {error.strerror or error}") from error


def receive(channel: socket.socket) -> tuple[Message, list[int]]:
    """The next message and the descriptors that came with it; blocks as the socket does.

    Raises:
        WireError: end of stream, a truncated packet, or something that is not a message.
    """
    try:
        data, descriptors, flags, _ = socket.recv_fds(channel, MAX_MESSAGE, _MAX_DESCRIPTORS)
    except (BlockingIOError, TimeoutError):
        raise
    except OSError as error:
        raise Closed(f"the channel is closed: {error.strerror or error}") from error
    try:
        if not data:
            raise Closed("the channel is closed")
        if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
            raise WireError("a message is too large")
        return _parse(data), descriptors
    except WireError:
        for fd in descriptors:
            os.close(fd)
        raise


def _parse(data: bytes) -> Message:
    try:
        message = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WireError("a message is not JSON") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise WireError("a message has no type")
    return message


class Mailbox:
    """Two counters in a page that both processes map."""

    def __init__(self, fd: int) -> None:
        self._page = mmap.mmap(fd, MAILBOX_BYTES)
        self._words = memoryview(self._page).cast("Q")

    @property
    def go(self) -> int:
        """The judge's counter: number of the round that may run."""
        return self._words[_GO]

    @go.setter
    def go(self, value: int) -> None:
        self._words[_GO] = value

    @property
    def done(self) -> int:
        """The runner's counter: number of the last round that it says is done."""
        return self._words[_DONE]

    @done.setter
    def done(self, value: int) -> None:
        self._words[_DONE] = value

    def close(self) -> None:
        """Unmap the page."""
        self._words.release()
        self._page.close()
