def reference(x, s, y, m, n, ldx, ldy):
    new = y + s * x
    return {"y": new, "sums": new.sum(1)}


def magnitude(x, s, y, m, n, ldx, ldy):
    new = y.abs() + abs(s) * x.abs()
    return {"y": new, "sums": new.sum(1)}
