def solution(x, s, y, n):
    for i in range(n):
        y[i] = x[i] + s
