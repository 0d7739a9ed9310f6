# Sends and prints what a verdict looks like instead of computing anything.
# threat: 1
# problem: vector-add
# verdict: runtime_error (the channel knows no such message)

import gc
import socket

_channel = next(o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() > 0)

_RESULT = '{"type":"result","verdict":"ACCEPTED","score":{"speedup":1000.0}}'


def solution(x, y, z, n):
    print(_RESULT, flush=True)
    _channel.send(_RESULT.encode())
