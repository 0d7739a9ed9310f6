"""Constants of the error model the same for every problem: see docs/explanation/tolerance.md.

Apart from the formula itself (:mod:`harness.problem.tolerance`), so that they can be told without
importing torch.
"""

TRUNCATION = 8.0
"""Unit roundoffs of the accumulator that a matrix unit may lose where rounding loses one."""

SUBNORMALS = 16.0
"""An intermediate result below the normal range loses up to half a subnormal absolutely, and what
it is multiplied with afterwards multiplies that."""

COMPLEX = 2.0
"""A component of a sum of complex products is a sum of twice as many real ones, and the distance in
the plane has the errors of two components: √2 each, if they are alike."""

CUT_WORST, CUT_SPREAD, CUT_MEAN = 4.0, 16.0, 4.0
"""Factors that are cut to unit roundoff u make a product wrong by at most ``CUT_WORST`` u; of many
terms it is ``CUT_SPREAD`` u over the square root of their number, and ``CUT_MEAN`` u of the sum.
One product's error has a spread of about 0.6 u; of a sum of k products, each of about
magnitude / k, that makes 0.9 u · magnitude / √k for normal data: 16 is more than ten times as much
as is likely."""
