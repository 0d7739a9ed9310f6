# Leaves the right sums in its output, and in one of its inputs.
# threat: 42
# problem: vector-add
# verdict: wrong_answer

def solution(x, y, z, n):
    z.copy_(x.add_(y))
