# Says that it has finished, sets the judge's counter itself, and computes nothing.
# threat: 1, 35
# problem: vector-add
# verdict: runtime_error; on cpu: wrong_answer (a warm-up call is out of turn)

import gc
import socket
import time

from harness.wire import mailbox

_channel = next(o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() > 0)
_mailbox = next(o for o in gc.get_objects() if isinstance(o, mailbox.Mailbox))


def solution(x, y, z, n):
    _channel.send(b'{"type":"finished"}')
    _mailbox.done = _mailbox.go
    time.sleep(0.2)
