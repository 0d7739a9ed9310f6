def reference(x, y, n):
    return x.conj() * y


def magnitude(x, y, n):
    return 2 * x.abs() * y.abs()
