"""cuFFT by nvmath-python, with the product compiled into the forward transform as its epilog.

The epilog is Python, compiled to LTO-IR and linked into the transform's kernels, so that the
spectrum is written once, filtered. Linking takes long, so transforms are planned once for each
shape; the address of the responses is a part of the plan, so each call copies its own there.

cuFFT links callbacks into kernels of its own for factors up to 127. Lengths with larger ones go
another way: they are filtered by a product of their own.
"""

import nvmath
import torch

LARGEST_FACTOR = 127
_epilogs = {}
_plans = {}


def times_response(data_out, offset, data, responses, unused):
    data_out[offset] = data * responses[offset]


def has_small_factors(n):
    for factor in range(2, LARGEST_FACTOR + 1):
        while n % factor == 0:
            n //= factor
    return n == 1


def epilog(kind):
    if kind not in _epilogs:
        _epilogs[kind] = nvmath.fft.compile_epilog(times_response, kind, kind)
    return _epilogs[kind]


def planned(signals, fused):
    """A forward transform that filters, its responses, and the way back."""
    responses = torch.empty_like(signals)
    forward = nvmath.fft.FFT(signals, axes=[1])
    if fused:
        kind = str(signals.dtype).removeprefix("torch.")
        forward.plan(epilog={"ltoir": epilog(kind), "data": responses.data_ptr()})
    else:
        forward.plan()
    back = nvmath.fft.FFT(signals, axes=[1])
    back.plan()
    return forward, responses, back


def solution(signals, responses, filtered, batch, n):
    key = (batch, n, signals.dtype)
    fused = has_small_factors(n)
    if key not in _plans:
        _plans[key] = planned(signals, fused)
    forward, factors, back = _plans[key]
    if fused:
        factors.copy_(responses)
    forward.reset_operand(signals)
    spectrum = forward.execute(direction="forward")
    if not fused:
        spectrum *= responses
    back.reset_operand(spectrum)
    torch.div(back.execute(direction="inverse"), n, out=filtered)
