# Hands back an input.
# threat: 43
# problem: vector-add
# verdict: wrong_answer

def solution(x, y, z, n):
    z.copy_(x)
