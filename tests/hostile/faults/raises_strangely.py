# Raises an exception that itself raises when it is told.
# threat: exception
# problem: vector-add
# verdict: runtime_error

class _Strange(BaseException):
    def __str__(self):
        raise _Strange

    def __repr__(self):
        raise _Strange


def solution(x, y, z, n):
    raise _Strange
