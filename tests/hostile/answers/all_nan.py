# Writes NaN, which is unequal to nothing in some comparisons.
# threat: 39
# problem: vector-add
# verdict: wrong_answer

def solution(x, y, z, n):
    z.fill_(float("nan"))
