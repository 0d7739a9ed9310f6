# verdict: wrong_answer
# says: elements of total are wrong
def solution(mask, x, total, odd, n):
    total += x
    odd.copy_(total & 1)
