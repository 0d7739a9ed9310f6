"""Emulated arithmetic: what a reference gives on a machine of less precision than float64.

In comes a reference written in torch, and an :class:`~.model.ArithmeticModel` (formats, order of
summation, truncation). Out comes its result, in float64 tensors that hold what the machine can.

The set of operations is stated, and is not meant to grow with each problem:

- exact: comparisons, selections, copies, views, minima and maxima (``operations._NAMES``);
- one rounding each: every pointwise operation, and the steps named there;
- functions with an error in units in the last place: exponentials, logarithms, trigonometric and
  hyperbolic functions, their inverses, ``erf``, ``pow``, ``rsqrt`` and activations made of them;
- sums: ``sum``, ``mean``, ``cumsum``, products of matrices and vectors, convolutions that are not
  transposed, discrete Fourier transforms;
- taken apart into these: softmax, log-softmax, logsumexp, variance, standard deviation, vector
  norms of order 1 and 2, layer norm.

Any other operation is done in float64 and its result rounded; if it may sum, ``harness verify``
warns that its rounding is not known.
"""
