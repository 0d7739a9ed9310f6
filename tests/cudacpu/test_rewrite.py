"""The rewriter: what it changes, what it must not, and what it refuses."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.cudacpu import Unsupported, translate


def body(source):
    """The translation without its first line."""
    first, rest = translate(source, "k.cu").split("\n", 1)
    assert first == '#line 1 "k.cu"'
    return rest


def lambda_launch(kernel, configuration):
    return (
        f'::cudacpu::launcher("{kernel}", [&](auto... cudacpu_a) '
        f"{{ {kernel}(cudacpu_a...); }}, {configuration})"
    )


@pytest.mark.parametrize(
    ("source", "kernel", "configuration", "rest"),
    [
        ("k<<<1, n>>>(x);", "k", "1, n", "(x);"),
        ("k<int><<<g, b>>>(x);", "k<int>", "g, b", "(x);"),
        ("k<T<2>><<<g, b>>>(x);", "k<T<2>>", "g, b", "(x);"),
        ("k<(a>b)><<<g, b>>>(x);", "k<(a>b)>", "g, b", "(x);"),
        ("a::b<1>::k<<<g, b>>>(x);", "a::b<1>::k", "g, b", "(x);"),
        ("::k<<<g, b>>>(x);", "::k", "g, b", "(x);"),
        ("(*p)<<<g, b>>>(x);", "(*p)", "g, b", "(x);"),
        ("table[2](1);k<<<f<1,2>(3), b>>>(x);", "k", "f<1,2>(3), b", "(x);"),
        ("k<<<g, S<8>>>>(x);", "k", "g, S<8>", "(x);"),
        ("k<<<dim3{1, 2}, b, n >> 2, s>>>(x);", "k", "dim3{1, 2}, b, n >> 2, s", "(x);"),
        ("obj.k<<<1, 1>>>(x);", "obj.k", "1, 1", "(x);"),
        ("p->k<<<1, 1>>>(x);", "p->k", "1, 1", "(x);"),
        ("pick(3)<<<1, 1>>>(x);", "pick(3)", "1, 1", "(x);"),
        ("#define L(k) k<<<1, 1>>>(x)", "k", "1, 1", "(x)"),
    ],
)
def test_launches(source, kernel, configuration, rest):
    result = body(source)
    assert result.endswith(lambda_launch(kernel, configuration).replace("1, 2>", "1,2>") + rest)


def test_a_launch_after_a_condition_or_else():
    result = body("if (a) k<<<1, 1>>>(x); else k<<<2, 2>>>(x);")
    assert result.startswith("if (a) ::cudacpu::launcher(")
    assert "; else ::cudacpu::launcher(" in result


def test_a_plain_kernel_is_passed_as_a_function():
    declaration = "__global__ void __launch_bounds__(64, 2) k(float *x);\n"
    by_name = "[](auto cudacpu_p) -> decltype(cudacpu_p(k)) { return k; }, "
    launch = lambda_launch("k", "1, 2").replace('"k", ', f'"k", {by_name}')
    assert body(declaration + "k<<<1, 2>>>(0);").endswith(f"{launch}(0);")


@pytest.mark.parametrize(
    "declaration",
    [
        "template <int N> __global__ void k(float *x);",
        "__global__ void k(float *x, int n = 3);",
        "__global__ void k(float *x); __global__ void k(double *x);",
    ],
)
def test_other_kernels_are_called_through_a_lambda(declaration):
    assert body(f"{declaration}k<<<1, 2>>>(0);").endswith(lambda_launch("k", "1, 2") + "(0);")


@pytest.mark.parametrize(
    "untouched",
    [
        '// k<<<1, 1>>>(x); __shared__ asm("")\n',
        "// continued \\\n k<<<1, 1>>>(x); asm(1)\n",
        "/* k<<<1, 1>>>(x);\n asm */",
        'auto s = "k<<<1, 1>>>(x); \\" asm /* __shared__";',
        'auto s = R"(k<<<1, 1>>>(x) " asm /* )";',
        'auto s = u8R"ab(k<<<1, 1>>>(x) )" asm )ab";',
        "char c = '\"'; int d = 1'000'000;",
        "#error don't k<<<1, 1>>>(x) asm\n",
        '#if 0\nasm("trap");\n#endif\n',
        "#pragma unroll\nfor (;;) {}\n",
        "a << b; a >> b; x<y<z>>(); a <<= 2;",
        'asm volatile("" ::: "memory");',
        "int wmma_like, asm_count, tex;",
        "#include <mma.h>\nusing namespace nvcuda;\nwmma::fragment<wmma::accumulator> f;",
        "#include <cub/block/block_scan.cuh>\ncub::BlockLoad<int, 1, 1, cub::BLOCK_LOAD_DIRECT> l;",
        "#include <cuda/std/limits>\n#include <cuda/functional>\ncuda::maximum<> m;",
        "#include <cuda_pipeline.h>\n#include <cuda/barrier>\nvoid f() { __pipeline_commit(); }",
        "struct DeviceReduce { static int f(); }; int x = DeviceReduce::f();",
        "",
    ],
)
def test_other_code_is_unchanged(untouched):
    assert body(untouched) == untouched


def test_shared_variables():
    assert body("void f() {__shared__ float a[2][3];}") == (
        "void f() {typedef  float cudacpu_t_a[2][3]; struct cudacpu_g_a; "
        "auto& a = ::cudacpu::shared<cudacpu_t_a, alignof(cudacpu_t_a), cudacpu_g_a>();}"
    )
    assert body("__shared__ float a[2];") == "__shared__ float a[2];", "file scope: a macro"
    two = body("void f() {static __shared__ T<1, 2> a[N<3>::v], b;}")
    assert "typedef   T<1, 2> cudacpu_t_a[N<3>::v], cudacpu_t_b;" in two
    assert "auto& b = " in two


def test_dynamic_shared_memory():
    assert body("void f() {extern __shared__ __align__(16) volatile float s[];}") == (
        "void f() {auto* const s = ::cudacpu::dynamic_shared<volatile float>();}"
    )
    assert body("namespace a { extern __shared__ int s[]; }").startswith(
        "namespace a { static thread_local int* s; static const ::cudacpu::DynamicPointer"
    )


def test_file_names_cannot_break_out():
    hostile = 'a"\n#include </etc/passwd>\\\x1b[31m\u202e'
    first, rest = translate("int x;", hostile).split("\n", 1)
    assert first == '#line 1 "a\\"?#include </etc/passwd>\\\\?[31m?"'
    assert rest == "int x;"


@pytest.mark.parametrize(
    ("source", "line", "feature"),
    [
        ('\nint a;\n__device__ void f() { asm volatile("trap;"); }', 3, "PTX"),
        ('#if 1\n__asm__("mov");\n#endif', 2, "PTX"),
        ("#include <mma.h>\nvoid f() {\n wmma::bmma_sync(c, a, b, c); }", 3, "single bits"),
        ("#  include <cub/device/device_reduce.cuh>", 1, "device-wide cub"),
        ("#include <cub/block/block_shuffle.cuh>", 1, "this part of the cub library"),
        ("#include <cub/../mma.h>", 1, "cub"),
        (
            "#include <cub/cub.cuh>\nint f() {\n cub::DeviceReduce::Sum(a); }",
            3,
            "cub::DeviceReduce",
        ),
        (
            "#include <cub/cub.cuh>\nusing namespace cub;\nauto f = DeviceScan::Sum;",
            3,
            "DeviceScan",
        ),
        ("void f() { cub::BlockMergeSort<int, 1> s; }", 1, "cub::BlockMergeSort"),
        ("/* */ #include <thrust/sort.h> // x", 1, "thrust"),
        ("#include <cublas_v2.h>", 1, "cuBLAS"),
        ("#include <cute/tensor.hpp>", 1, "cute"),
        ("#include <cutlass/gemm.h>", 1, "cutlass"),
        ("#include <cuda/atomic>", 1, "libcu++"),
        ("#include <cuda/std/span>", 1, "libcu++"),
        ("void f() {\n __pipeline_arrive_on(b); }", 2, "__mbarrier"),
        ("cuda::atomic_ref<x> b;", 1, "cuda::atomic_ref"),
        (
            "#include <cuda/barrier>\nauto h = cuda::device::barrier_native_handle(b);",
            2,
            "cuda::device",
        ),
        ("auto g = cooperative_groups::this_grid();", 1, "grid-wide"),
        ("__global__ void k(cudaTextureObject_t t) {}", 1, "textures"),
        ("#if 0\n#else\nsurf2Dread(a);\n#endif", 3, "surfaces"),
        (
            "__global__ void k();\n__global__ void m() {\n k<<<1, 1>>>(); }",
            3,
            "dynamic parallelism",
        ),
        ("__device__ int m() { if (1) { k<<<1, 1>>>(); } }", 1, "dynamic parallelism"),
    ],
)
def test_unsupported_features_are_named_with_their_line(source, line, feature):
    with pytest.raises(Unsupported) as raised:
        translate(source, "k.cu")
    assert raised.value.line == line
    assert feature in raised.value.feature


def test_host_code_after_device_code_may_launch():
    device = "__global__ void k() { if (1) { } }\n"
    source = device + "void f() { auto l = [] __device__ (int i) { }; k<<<1, 1>>>(); }"
    assert "launcher" in body(source)


def test_branches_that_open_the_same_brace():
    heads = "#ifdef A\n__global__ void k(int a) {\n#else\n__global__ void k() {\n#endif\n}\n"
    source = heads + "void f() { k<<<1, 1>>>(); }"
    assert "launcher" in body(source)


_WORD_LIST = """k<<<1,n>>>(x); __shared__ float extern a[3]; s[]; { } ( ) < > ; , = template <int
    __global__ __device__ void namespace #define #if #else #endif #include \\ 'c' 1'000 0x1p-3
    __noinline__ [[ ]] :: -> . " ' R"( )" // /* */ <<< >>> alignas(16) struct"""
_WORDS = st.sampled_from(_WORD_LIST.split())
_LITERALS = st.one_of(
    st.text("k<>(){};'#_ \\a", max_size=12).map(lambda t: f"/*{t}*/"),
    st.text("k<>(){};'#_ \"a", max_size=12).map(lambda t: f"//{t}\n"),
    st.text("k<>(){};'#_ /*a", max_size=12).map(lambda t: f'"{t}"'),
    st.text("k<>{};'#_ /*\"\na", max_size=12).map(lambda t: f'R"d({t})d"'),
)
_SOUP = st.lists(st.one_of(_WORDS, st.sampled_from([" ", "\n", "\\\n"])), max_size=40)
_quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@_quick
@given(_SOUP)
def test_translation_keeps_the_lines_of_any_text(words):
    source = " ".join(words)
    try:
        result = translate(source, "k.cu")
    except Unsupported as unsupported:
        assert 1 <= unsupported.line <= source.count("\n") + 1
        return
    assert result.count("\n") == source.count("\n") + 1


_CODE = st.sampled_from(["k<<<1, 2>>>(x);", "{", "}", "__noinline__"])


@_quick
@given(st.lists(st.tuples(_LITERALS, _CODE)))
def test_comments_and_literals_come_through_unchanged(parts):
    """Between statements; what is rewritten around them does not touch them."""
    result = body("".join(f"\n{literal};{code}\n" for literal, code in parts))
    position = 0
    for literal, _ in parts:
        position = result.index(f"\n{literal};", position) + 1
    assert len(re.findall("__noinline__", result)) == "".join(p for p, _ in parts).count(
        "__noinline__"
    )


@_quick
@given(_LITERALS, _LITERALS)
def test_comments_inside_a_launch_come_through_unchanged(one, other):
    if '"' in one[:3] or '"' in other[:3]:
        return  # a string there would be an argument
    result = body(f"k<<<1, {one} 2 {other}>>>(x);")
    assert f"1, {one} 2 {other})(x);" in result
