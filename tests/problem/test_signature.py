"""The entry point in C++ and Python."""

from support.problem_texts import MINIMAL, Write

from harness.problem.format.load import load_problem
from harness.problem.signature import c_prototype, python_signature


def test_shipped_problem(gemm) -> None:
    assert c_prototype(gemm) == (
        'extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c, '
        "float alpha, VAR* output_matrix, size_t m, size_t n, size_t k);"
    )
    assert python_signature(gemm) == (
        "def solution(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k):"
    )


def test_statement_shows_the_same_signature(gemm) -> None:
    shown = " ".join(gemm.statement.split())
    assert c_prototype(gemm) in shown
    assert python_signature(gemm) in shown


def test_inout_and_fixed_types(write: Write) -> None:
    text = MINIMAL.replace('"[VAR]"', "double", 1).replace("const: false", "direction: inout")
    text = text.replace("size_t", "long  long")
    assert c_prototype(load_problem(write(text))) == (
        'extern "C" void solution(const double* x, float s, VAR* y, long long n);'
    )
