# Computes all calls of a batch in the first, and nothing in the others.
# threat: 28
# problem: vector-add
# verdict: accepted (all of the work is done in the time of the batch)

import gc

from harness.runner import python

_program = []


def solution(x, y, z, n):
    if not _program:
        _program.extend(o for o in gc.get_objects() if isinstance(o, python.TorchProgram))
    calls = _program[0]._bound
    if any(z is given for given in calls[0]):
        for a, b, c, _ in calls:
            c.copy_(a + b)
