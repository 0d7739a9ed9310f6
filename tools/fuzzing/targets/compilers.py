"""CUDA C++ as it is translated for the CPU, and what compilers and sanitizers print."""

from pathlib import Path

from harness.cudacpu import Unsupported, translate
from harness.cudacpu.lexer import tokenize
from harness.judge.memcheck import first_report, is_memory_fault
from harness.languages.build import diagnostics, ptxas
from harness.records.build import Build
from harness.session.fault import sanitizer_summary
from harness.text import numbers
from tools import ROOT
from tools.fuzzing.targets.target import HUGE, PROBLEMS, Target, decoded, sample


def translate_source(data: bytes) -> None:
    """CUDA C++ for the CPU: every token in its place, every line where it was."""
    source = decoded(data).replace("\r\n", "\n")
    end = 0
    for token in tokenize(source):
        assert end <= token.start <= token.end <= len(source)
        end = token.end
        assert token.text == source[token.start : token.end]
    try:
        translated = translate(source, "solution.cu")
    except Unsupported as unsupported:
        assert 1 <= unsupported.line <= source.count("\n") + 1
        assert unsupported.feature
    else:
        assert translated.count("\n") == source.count("\n") + 1


def read_log(data: bytes) -> None:
    """A compiler's output: its first error, its figures, all of bounded size."""
    log = decoded(data)
    neutral = diagnostics.neutral(log, Path("/tmp/x"))
    shown = diagnostics.renamed(neutral, "solution.cu", "\\1 my file.cu")
    assert len(diagnostics.first_error(shown)) <= diagnostics.MESSAGE_CHARACTERS + 40
    diagnostics.PLACE.search(shown)
    diagnostics.CHILD_KILLED.search(log)
    kernels = ptxas.parse(log)
    assert len(kernels) <= ptxas.MAX_KERNELS
    ptxas.without_info(log)
    build = Build(seconds=1.0, cached=False, target="sm_90", log=shown, kernels=kernels)
    assert Build.model_validate_json(build.model_dump_json()).kernels == kernels
    for kernel in kernels:
        assert numbers.bytes_(kernel.shared_bytes)


def read_report(data: bytes) -> None:
    """What sanitizers print: a line of text, or nothing."""
    report = decoded(data)
    assert sanitizer_summary(report)
    found = first_report(report)
    assert found is None or len(found) < 500
    is_memory_fault(report)


def _sources(pattern: str, most: int) -> tuple[bytes, ...]:
    files = sorted(PROBLEMS.glob(pattern)) + sorted((ROOT / "solutions").glob(pattern))
    return tuple(path.read_bytes() for path in files if path.stat().st_size <= most)


_CUDA_WORDS = (
    "__global__", "__shared__", "<<<", ">>>", "extern", "#define", "#if 0", "#include", "\\\n",
    'R"x(', ')x"', "/*", "*/", "//", "__align__(16)", "template<", "cudaStream_t", "asm volatile",
)  # fmt: skip

TARGETS = (
    Target(
        name="translate",
        run=translate_source,
        seeds=(*_sources("**/*.cu", 700)[:20], sample("odd.cu")),
        words=_CUDA_WORDS,
        most=800,
    ),
    Target(
        name="log",
        run=read_log,
        seeds=(
            sample("nvcc.log"),
            sample("gcc.log"),
            sample("ptxas.log"),
            sample("ptxas.log").replace(b"32 registers", HUGE * 2 + b" registers"),
            sample("ptxas.log").replace(b"8192+16", HUGE * 2),
        ),
        words=("error: ", "fatal error", "ptxas info    : Used ", " registers", " bytes smem"),
        most=10_000,
    ),
    Target(
        name="report",
        run=read_report,
        seeds=(sample("asan.log"), sample("memcheck.log")),
        words=("ERROR: AddressSanitizer: ", "\n    #0 0x1 in ", "solution.cu:1", " in "),
    ),
)
