# Sends messages without end, and never gets to its work.
# threat: 1, 10
# problem: vector-add
# verdict: runtime_error; on cpu: time_limit (a warm-up call is out of turn)

import gc
import socket

_channel = next(o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() > 0)


def solution(x, y, z, n):
    while True:
        _channel.send(b'{"type":"ready"}')
