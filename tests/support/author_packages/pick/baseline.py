"""By torch."""



def solution(x, largest, where, n, k):
    found = x.topk(k)
    largest.copy_(found.values)
    where.copy_(found.indices)
