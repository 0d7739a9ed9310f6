# Tells the judge that it has finished, and computes nothing.
# threat: 1
# problem: vector-add
# verdict: runtime_error; on cpu: wrong_answer (a warm-up call is out of turn)

import gc
import socket

_channel = next(o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() > 0)


def solution(x, y, z, n):
    _channel.send(b'{"type":"finished"}')
