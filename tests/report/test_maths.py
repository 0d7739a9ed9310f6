"""Formulas in Unicode: readable, on one line, and TeX where they cannot be read."""

import pytest

from harness.report.maths import unicode_maths


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (r"x \in \mathbb{R}^{m \times n}", "x ∈ ℝ^(m × n)"),
        (r"C_{ij} = b_j + \sum_{p=1}^{k} A_{ip} B_{pj}.", "Cᵢⱼ = bⱼ + ∑ₚ₌₁ᵏ AᵢₚBₚⱼ."),
        (r"\frac{1}{n}\sum_j X_{ij}^2 - \mu_i^2", "(1/n) ∑ⱼ Xᵢⱼ² − μᵢ²"),
        (r"\operatorname{erf}\frac{z}{\sqrt 2}", "erf z/√2"),
        (r"\frac{a + b}{c}", "(a + b)/c"),
        (r"\begin{cases} x & x \ge 0, \\ 0 & x < 0. \end{cases}", "{x (x ≥ 0), 0 (x < 0)"),
        (r"\max_{1 \le p \le n} X_{ip}", "max_(1 ≤ p ≤ n) Xᵢₚ"),
        (r"\hat{x} \circ F", "x\u0302 ∘ F"),
        (r"10^{-6}", "10⁻⁶"),
        (r"\{p_{i,0}, \dots\}", "{p_(i, 0), …}"),
        (r"\sqrt[3]{x + 1}", "³√(x + 1)"),
        ("x^", "x^"),
        (r"\nothing_of_the_kind", r"\nothing_of_the_kind"),
        ("", ""),
        ("x" * 5000, "x" * 5000),
    ],
)
def test_readable(formula: str, shown: str) -> None:
    assert unicode_maths(formula) == shown
