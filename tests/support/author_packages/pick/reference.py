"""The k largest of numbers with many equal ones."""

import torch


def draw(generator, family, n):
    """A few integers, so that there are ties wherever the cut is."""
    return {"x": torch.randint(-3, 4, (n,), generator=generator)}


def reference(x, n, k):
    found = x.topk(k)
    return {"largest": found.values, "where": found.indices}


def magnitude(x, n, k):
    found = x.topk(k)
    return {"largest": found.values.abs(), "where": found.indices}


def check(got, expected, x, n):
    """A place is right if the number there is the one expected, and it is named once."""
    where = got["where"]
    inside = (where >= 0) & (where < n)
    there = where.clamp(0, n - 1)
    once = (there[:, None] == there[None, :]).sum(1) == 1
    return {"where": inside & once & (x[there] == expected["largest"])}
