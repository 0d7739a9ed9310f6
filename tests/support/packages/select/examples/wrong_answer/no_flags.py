# verdict: wrong_answer
# says: elements of odd are wrong
def solution(mask, x, total, odd, n):
    total += x * mask
