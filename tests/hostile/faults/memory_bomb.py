# Takes memory of the host and uses it, as long as it can.
# threat: memory bomb
# problem: vector-add
# verdict: memory_limit

def solution(x, y, z, n):
    taken = []
    while True:
        taken.append(b"x" * (16 << 20))
