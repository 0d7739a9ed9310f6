"""Problems by the names that others give them."""

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.problem.format.load import find_problem
from harness.problem.lookup import find_named, key_of, other_subject

PROBLEMS = Path(__file__).parents[2] / "problems"


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("6_Matmul_with_large_K_dimension_", "matmul-large-k"),
        ("GEMM with Multiply and LeakyReLU", "gemm-multiply-leakyrelu"),
        ("12_Gemm_Multiply_LeakyReLU.py", "gemm-multiply-leakyrelu"),
        ("gemm-multiply-leaky_relu", "gemm-multiply-leakyrelu"),
        ("Softmax of Matrix Rows", "softmax"),
        ("SOFTMAX", "softmax"),
        ("Vector Addition", "vector-add"),
    ],
)
def test_names_of_one_problem(name: str, slug: str) -> None:
    assert find_named(PROBLEMS, name, "a.txt").slug == slug


def test_a_name_of_none() -> None:
    with pytest.raises(UsageError, match=r"a\.txt.*did you mean vector-add\?.*--problem"):
        find_named(PROBLEMS, "3_Vectr_Add.py", "a.txt")
    with pytest.raises(UsageError, match="--problem"):
        find_named(PROBLEMS, "///", "a.txt")


def test_a_number_alone_is_a_name() -> None:
    assert key_of("12") == "12"
    assert key_of("12_relu") == "relu"


def test_a_text_about_another_problem() -> None:
    wanted = find_problem(PROBLEMS, "matmul-large-k")
    text = "A Gemm, a multiplication, a LeakyReLU. gemm, multiply, LeakyReLU."
    assert other_subject(text, wanted, PROBLEMS) == "gemm-multiply-leakyrelu"
    assert other_subject("A softmax? No, a softmax.", wanted, PROBLEMS) == "softmax"
    assert other_subject("It says nothing.", wanted, PROBLEMS) is None
    own = "matmul, large k: a matmul whose K is large. softmax softmax"
    assert other_subject(own, wanted, PROBLEMS) is None
