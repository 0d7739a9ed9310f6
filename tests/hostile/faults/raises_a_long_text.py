# Raises an exception with megabytes of text that is no text.
# threat: exception
# problem: vector-add
# verdict: runtime_error

def solution(x, y, z, n):
    raise ValueError("\udc80\x00\u202e" * 1_000_000)
