# verdict: wrong_answer
# says: elements of z are wrong
def solution(x, y, z, n):
    z.copy_((x.conj() * y).real)
