# Keeps the first answer of each size in the default of an argument.
# threat: 24, 25
# problem: vector-add
# verdict: wrong_answer

def solution(x, y, z, n, known={}):
    if n not in known:
        known[n] = x + y
    z.copy_(known[n])
