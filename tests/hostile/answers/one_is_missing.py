# Leaves out a single element in the middle.
# threat: 44, 49
# problem: vector-add
# verdict: wrong_answer

def solution(x, y, z, n):
    middle = n // 2
    z[:middle].copy_(x[:middle] + y[:middle])
    z[middle + 1 :].copy_(x[middle + 1 :] + y[middle + 1 :])
