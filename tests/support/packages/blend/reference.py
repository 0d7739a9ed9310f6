def reference(counts, a, total, m, n):
    return {"total": total + a.T, "parity": counts % 2}


def magnitude(counts, a, total, m, n):
    return {"total": total.abs() + a.T.abs(), "parity": counts % 2}
