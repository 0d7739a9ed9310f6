def reference(mask, x, total, n):
    new = total + x * mask
    return {"total": new, "odd": new % 2 == 1}


def magnitude(mask, x, total, n):
    return reference(mask, x, total, n)
