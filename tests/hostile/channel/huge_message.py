# Sends a message that is larger than any may be.
# threat: 1
# problem: vector-add
# verdict: runtime_error

import gc
import socket

_channel = next(o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() > 0)


def solution(x, y, z, n):
    z.copy_(x + y)
    _channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    _channel.send(b'{"type":"finished","text":"' + b"x" * 80_000 + b'"}')
