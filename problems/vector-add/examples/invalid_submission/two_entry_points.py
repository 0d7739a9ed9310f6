# Defines two entry points, and nothing says which of them is meant.
# verdict: invalid_submission


def solve(x, y, z, n):
    z.copy_(x + y)


def custom_kernel(data):
    x, y, z = data
    return x + y
