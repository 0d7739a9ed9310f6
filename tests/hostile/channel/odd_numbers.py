# Sends numbers that no judge can count with.
# threat: 1, 4
# problem: vector-add
# timed: yes
# verdict: accepted (they are shown at most, and these not even that)

from harness import wire
from harness.runner import main

_send = wire.send


def _odd(channel, message, descriptors=()):
    if message["type"] == "finished":
        message["kernels"] = float("nan")
        message["seconds"] = -1e308
    _send(channel, message, descriptors)


wire.send = main.wire.send = _odd


def solution(x, y, z, n):
    z.copy_(x + y)
