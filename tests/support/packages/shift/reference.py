def reference(x, s, n):
    return x + s


def magnitude(x, s, n):
    return x.abs() + abs(s)
