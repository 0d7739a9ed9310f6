# A child of a child, in a session of its own and with no parent left, keeps a processor busy.
# threat: 53, 57
# problem: vector-add
# verdict: rejected

import os

import torch

child = os.fork()
if child == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    while True:
        pass
os.waitpid(child, 0)


def solution(x, y, z, n):
    torch.add(x, y, out=z)
