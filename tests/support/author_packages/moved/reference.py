"""Sorted numbers with gaps, and what is added to them in place."""

import torch


def reference(x, y, z, m, n, ld):
    return {"y": y + x, "z": z + 1}


def magnitude(x, y, z, m, n, ld):
    return {"y": y.abs() + x.abs(), "z": z.abs() + 1}


def draw(generator, family, m, n):
    x = torch.randint(0, 1 << 20, (m, n), generator=generator).sort().values
    return {"x": x, "y": -x.double() if family == "declared" else x}
