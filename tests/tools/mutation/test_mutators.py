"""Every mutant differs from its original in one place, is still a program, and keeps its id."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.cudacpu.lexer import tokenize as cuda_tokens
from harness.problem.format.load import load_problem
from tools.mutation.cuda import cuda_mutants
from tools.mutation.mutant import Collector, Mutant
from tools.mutation.triton import triton_mutants

ROOT = Path(__file__).parents[3]
SAMPLES = ROOT / "solutions/gemm-multiply-leakyrelu/samples"
GEMM = load_problem(ROOT / "problems/gemm-multiply-leakyrelu")


def changes(mutants: list[Mutant]) -> dict[str, set[str]]:
    """Operator → what it does."""
    found: dict[str, set[str]] = {}
    for mutant in mutants:
        found.setdefault(mutant.operator, set()).add(mutant.change)
    return found


def cuda(
    body: str, *, before: str = "", parameters: str = "float* x, int n"
) -> dict[str, set[str]]:
    return changes(
        cuda_mutants(f"{before}\n__global__ void f({parameters}) {{\n{body}\n}}\n", "f.cu")
    )


def triton(body: str, rest: str = "") -> dict[str, set[str]]:
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    source = f"@triton.jit\ndef f(a, b, m, n, k, T: tl.constexpr):\n{indented}\n{rest}"
    return changes(triton_mutants(source, "f.py", GEMM))


@pytest.mark.parametrize(
    ("body", "operator", "expected"),
    [
        ("if (i >= n) return;", "bounds check dropped", {"i >= n → false"}),
        ("if (i < n) { x[i] = 1; }", "condition dropped", {"i < n → true"}),
        ("for (;;) { if (done) break; }", "bounds check dropped", {"done → false"}),
        ("bool b = i < n && j < m || k;", "operand dropped",
         {"i < n && → (nothing)", "&& j < m → (nothing)", "j < m || → (nothing)",
          "|| k → (nothing)"}),
        ("bool b = i < n;", "comparison", {"< → <="}),
        ("bool b = i >= n;", "comparison", {">= → >"}),
        ("Foo<int> b; static_cast<float>(n);", "comparison", set()),
        ("f<<<n, 1>>>(x, n);", "comparison", set()),
        ("x[0] = n + 1;", "arithmetic", {"+ → -"}),
        ("x[0] = n*n;", "arithmetic", {"* → +"}),
        ("const float* p = x; float *q; VAR* r;", "arithmetic", set()),
        ("x[0] = n * k / d;", "factor dropped",
         {"n * → (nothing)", "* k → (nothing)", "/ d → (nothing)"}),
        ("x[0] = a * static_cast<float>(c[n]);", "factor dropped",
         {"a * → (nothing)", "* static_cast<float>(c[n]) → (nothing)"}),
        ("x[0] = -n;", "sign dropped", {"- → (nothing)"}),
        ("x[0] += n;", "assignment", {"+= → -="}),
        ("for (int i = 0; i < n; i += 2) {}", "assignment", set()),
        ("__syncthreads();", "barrier dropped", {"__syncthreads() → (nothing)"}),
        ("float s = 0.0f, t = 2.5;", "constant", {"0.0f → 1.0f", "2.5 → 0.0"}),
        ("float s = -INFINITY;", "constant", {"INFINITY → 0.0f"}),
        ("n = 7u;", "constant", {"7u → 8u"}),
        ("float s[8][4];", "constant", {"8 → 7", "4 → 3"}),
        ("int mask = 0xffffffff;", "constant", set()),
        ("for (int i = 0; i < TILE; ++i) {}", "named constant", set()),
        ("n = TILE;", "named constant", {"TILE → (TILE - 1)"}),
        ("for (int i = 0; i < n; ++i) {}", "last step left out", {"n → (n - 1)"}),
        ("for (int i = t; i < n; ++i) {}", "first step left out", {"t → t + 1"}),
        ("n = fmaxf(a, b);", "function", {"fmaxf → fminf"}),
        ("n = threadIdx.x;", "x and y", {"x → y"}),
        ("x[0] = s[i][j];", "indices swapped", {"[i][j] → [j][i]"}),
        ("x[0] = s[i * n + j];", "names swapped in an index",
         {"n + j → j + n"}),
        ("x[0] = s[i + n];", "names swapped in an index", set()),
        ("x[0] = c ? a : b;", "branches swapped", {"a : b → b : a"}),
        ("n = (n + T - 1) / T;", "rounding up dropped", {"(n + T - 1) / T → (n) / T"}),
        ("n = (n + T - 1) / T;", "rounding up by one less", {"1 → 2"}),
        ("n = (n + T - 1) / T;", "arithmetic", set()),
        ("n = (n + 31) / 32;", "rounding up dropped", {"(n + 31) / 32 → (n) / 32"}),
        ("n = (n + 31) / 32;", "rounding up by one less", {"31 → 30"}),
        ("n = (n + 30) / 32;", "rounding up by one less", set()),
        ("static_assert(T * 2 == 4);", "arithmetic", set()),
        ("float s = 0, t; s += x[n]; t = 1;", "accumulated in VAR",
         {"s += x[n] → s = static_cast<float>(static_cast<VAR>(s + x[n]))"}),
        ("float s[4]; for (;;) s[i] += 1;", "accumulated in VAR",
         {"s[i] += 1 → s[i] = static_cast<float>(static_cast<VAR>(s[i] + 1))"}),
        ("int s = 0; s += x[n];", "accumulated in VAR", set()),
        ("// if (i >= n) return;\nn = 1 /* + 2 */;", "arithmetic", set()),
        ('printf("a < b + c");', "arithmetic", set()),
    ],
)  # fmt: skip
def test_cuda_operators(body: str, operator: str, expected: set[str]) -> None:
    made = cuda(body)
    if operator == "named constant" and not expected:
        made = {"named constant": made.get(operator, set()) - {"TILE → (TILE - 1)"}}
    assert made.get(operator, set()) == expected


def test_cuda_arguments_of_the_same_type() -> None:
    source = (
        "__device__ float g(const float* a, const float* b, int m, size_t n, int k) { return 0; }\n"
        "void h(float* p, float* q) { dim3 d(r, s); g<<<d, 32>>>(p, q, one, two, three); }\n"
    )
    assert changes(cuda_mutants(source, "f.cu"))["arguments swapped"] == {
        "r, s → s, r",
        "d, 32 → 32, d",
        "p, q → q, p",
        "one, two, three → three, two, one",
    }


def test_cuda_another_size() -> None:
    made = cuda("x[m] = n + s.m;", parameters="float* x, int m, int n, size_t k")
    assert made["another size"] == {"m → n", "n → m"}


@pytest.mark.parametrize(
    ("body", "operator", "expected"),
    [
        ("x = i < m", "comparison", {"< → <="}),
        ("x = (i < m) & (j < n)", "operand dropped",
         {"(i < m) & (j < n) → (i < m)", "(i < m) & (j < n) → (j < n)"}),
        ("x = a + 1.5", "arithmetic", {"+ → -"}),
        ("x = a * b", "factor dropped", {"a * b → (a)", "a * b → (b)"}),
        ("x = a / b", "factor dropped", {"a / b → (a)"}),
        ("x += b", "assignment", {"+= → -="}),
        ("if T:\n    pass", "condition turned round", {"T → not (T)"}),
        ("x = tl.load(a, mask=i, other=0.0)", "mask dropped", {", mask=i, other=0.0 → (nothing)"}),
        ("x = tl.load(a, mask=i, other=0.0)", "other dropped", {", other=0.0 → (nothing)"}),
        ("x = tl.sum(a, axis=1)", "axis", {"1 → 0"}),
        ("x = tl.sum(a, 0)", "axis", {"0 → 1"}),
        ("x = tl.sum(a, 0)", "constant", set()),
        ("x = tl.program_id(0)", "axis", {"0 → 1"}),
        ("x = tl.max(a, 0)", "function", {"max → min"}),
        ("x = tl.exp(a)", "function", {"exp → exp2"}),
        ("x = a.to(tl.float32)", "cast to float32 dropped", {"a.to(tl.float32) → a"}),
        ("x = tl.where(c, a, b)", "branches swapped", {"a, b → b, a"}),
        ("x = tl.dot(a, b, c)", "accumulator dropped", {", c → (nothing)"}),
        ("x = tl.dot(a, b, input_precision='ieee')", "precision", {"'ieee' → \"tf32\""}),
        ("x = tl.zeros((T,), dtype=tl.float32)", "constant",
         {"tl.zeros((T,), dtype=tl.float32) → (tl.zeros((T,), dtype=tl.float32) + 1)"}),
        ("x = float('inf')", "constant", {"float('inf') → 0.0"}),
        ("for i in range(0, k, T):\n    pass", "last step left out", {"k → (k) - 1"}),
        ("x = i[:, None] * k + j[None, :]", "axes swapped",
         {"[:, None] → [None, :]", "[None, :] → [:, None]"}),
        ("x = a + i * k", "names swapped in an index", {"a + i → i + a"}),
        ("x = i + j", "names swapped in an index", set()),
        ("x = m + n", "another size", {"m → n", "n → k"}),
        ("x = tl.cdiv(m, T)", "rounding up dropped", {"tl.cdiv(m, T) → ((m) // (T))"}),
        ("x = 'µ', a < b", "comparison", {"< → <="}),
    ],
)  # fmt: skip
def test_triton_operators(body: str, operator: str, expected: set[str]) -> None:
    assert triton(body).get(operator, set()) == expected


def test_triton_launches() -> None:
    made = triton(
        "pass",
        "def solution(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k):\n"
        "    f[(triton.cdiv(m, 8), n)](matrix_a, matrix_b, m, n, T=128,\n"
        "        WIDE=m % 16 == 0 and n > 2, num_warps=4)\n",
    )
    assert made["arguments swapped"] == {
        "triton.cdiv(m, 8), n → n, triton.cdiv(m, 8)",
        "matrix_a, matrix_b → matrix_b, matrix_a",
        "m, n → n, m",
    }
    assert made["rounding up dropped"] == {"triton.cdiv(m, 8) → ((m) // (8))"}
    assert made["comparison"] == {"== → !=", "> → >="}
    assert "constant" not in made


def _all(path: Path) -> list[Mutant]:
    text = path.read_text(encoding="utf-8")
    problem = load_problem(ROOT / "problems" / path.relative_to(ROOT).parts[1])
    if path.suffix == ".cu":
        return cuda_mutants(text, path.name)
    return triton_mutants(text, path.name, problem)


FILES = sorted(ROOT.glob("solutions/*/samples/naive.cu")) + sorted(
    ROOT.glob("solutions/*/samples/triton.py")
)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_mutants_of_the_samples(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    mutants = _all(path)
    assert len(mutants) >= 10
    texts = Counter(mutant.text for mutant in mutants)
    assert source not in texts
    assert max(texts.values(), default=1) == 1, [m.summary for m in mutants if texts[m.text] > 1][
        :2
    ]
    assert len({mutant.id for mutant in mutants}) == len(mutants)
    for mutant in mutants:
        assert mutant.text[: mutant.start] == source[: mutant.start]
        rest = len(source) - mutant.end
        assert mutant.text[len(mutant.text) - rest :] == source[mutant.end :]
        assert mutant.context in source.splitlines()[mutant.line - 1]
        if path.suffix == ".py":
            ast.parse(mutant.text)
        else:
            assert _balanced(mutant.text), mutant.summary


def _balanced(text: str) -> bool:
    counts = Counter(token.text for token in cuda_tokens(text))
    return all(counts[a] == counts[b] for a, b in ("()", "[]", "{}"))


@cache
def _naive() -> tuple[str, list[str]]:
    source = (SAMPLES / "naive.cu").read_text(encoding="utf-8")
    return source, [mutant.id for mutant in cuda_mutants(source, "naive.cu")]


@given(st.integers(0, 8), st.sampled_from(["", "\n", "// a comment\n\n", "int unrelated;\n"]))
def test_ids_do_not_depend_on_other_lines(number: int, inserted: str) -> None:
    source, before = _naive()
    lines = source.splitlines(keepends=True)
    moved = "".join((*lines[:number], inserted, *lines[number:]))
    assert [m.id for m in cuda_mutants(moved, "naive.cu")] == before


@given(st.text(alphabet="abi+-*/%<>=&|?:;,()[]{} \n0.1f", max_size=60))
@example("a<<<")
@example("a>>><<<b")
def test_nothing_malformed_is_too_much(body: str) -> None:
    source = f"__global__ void f(int a, int b) {{\n{body}\n}}\n"
    for mutant in cuda_mutants(source, "f.cu"):
        assert mutant.text != source


@given(st.text(max_size=30), st.text(max_size=12), st.data())
def test_one_edit(source: str, after: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(source)))
    end = data.draw(st.integers(start, len(source)))
    collector = Collector(source, "f.cu")
    collector.add("x", start, end, after)
    (mutant,) = collector.mutants() or (None,)
    expected = source[:start] + after + source[end:]
    assert (mutant.text if mutant else source) == expected


def test_told_in_one_line() -> None:
    for mutant in cuda_mutants((SAMPLES / "naive.cu").read_text(), "naive.cu"):
        assert re.fullmatch(r"naive\.cu:\d+: [a-zA-Z0-9 ]+: .+ → .+    in: .+", mutant.summary)
