"""What is fuzzed: each target is a function of bytes that raises if the judge would misbehave.

A target turns the bytes into what its reader gets in a grade, calls it, and lets through only the
exceptions that the reader documents. What it returns is checked as far as it can be without
knowing what was meant. Used by ``python -m tools.fuzzing`` and, for a few seconds, by the tests.
"""

import atexit
import functools
import io
import json
import os
import shutil
import socket
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml  # noqa: F401 - here, so that it is instrumented
from rich.console import Console
from support.samples import failed, interval, measurement, mismatch, result, unranked

from harness.cudacpu import Unsupported, translate
from harness.cudacpu.lexer import tokenize
from harness.errors import MachineError, ProblemError, UsageError
from harness.judge.memcheck import first_report, is_memory_fault
from harness.languages.build import diagnostics, ptxas
from harness.languages.build.cache import CacheEntry
from harness.languages.build.triton_target import outcome_of
from harness.languages.read import read_solution
from harness.problem.case import parse_case
from harness.problem.expressions import Expression, ExpressionError
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.records.build import Build
from harness.records.cases import CaseResult, ShrunkCase, TensorValues
from harness.records.measurement import Conditions
from harness.records.result import Result, Verdict
from harness.report.terminal import render_result
from harness.session.channel import Channel
from harness.session.fault import Fault, sanitizer_summary
from harness.session.session import Session, kernels_per_call
from harness.solution.model import Invalid
from harness.text import numbers
from harness.text.plain import head, plain, plain_lines, tail
from harness.wire import transport
from harness.wire.messages import MESSAGES, Compiled, FaultCode, Finished, Message, Prepared, parse
from harness.wire.validation import WireError
from leaderboard.ranking import board, read_csv, to_csv
from leaderboard.rows import read_result as read_row
from leaderboard.schema import checksum
from tools import ROOT
from tools.fuzzing import imports

_PROBLEMS = ROOT / "problems"
_SAMPLES = ROOT / "tests/tools/fuzzing/seeds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One reader: what to call, what to begin with, and words that its input is made of."""

    name: str
    run: Callable[[bytes], None]
    seeds: tuple[bytes, ...]
    words: tuple[str, ...] = ()
    most: int = 4096
    """Longest input, bytes."""


# ---- the channel ------------------------------------------------------------------------------


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def _sent(data: bytes, descriptors: int = 0) -> socket.socket | None:
    """Our end of a channel on which a hostile runner has said ``data`` and closed its own."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        try:
            socket.send_fds(theirs, [data], [0] * descriptors)
        except OSError:  # larger than the kernel lets it send
            ours.close()
            return None
    return ours


def read_packet(data: bytes) -> None:
    """One packet with up to six descriptors: a message or a WireError, and nothing left open."""
    before = _descriptors()
    ours = _sent(data[1:], data[0] % 7 if data else 0)
    if ours is None:
        return
    with ours:
        try:
            message, received = transport.receive(ours)
        except WireError as error:
            assert str(error)
        else:
            assert isinstance(message, Message)
            for fd in received:
                os.close(fd)
    assert _descriptors() == before, "a descriptor was left open"


_EXPECTED = ("loaded", "mapped", "prepared", "ready", "finished", "compiled", "confined")


def hear_runner(data: bytes) -> None:
    """What a session makes of one packet: an answer or a fault that can be recorded."""
    choice = data[0] if data else 0
    ours = _sent(data[1:], choice // 7 % 3)
    if ours is None:
        return
    output = SimpleNamespace(text=lambda _: "its last words")
    sandbox: Any = SimpleNamespace(
        channel=ours, ended=lambda: 1, memory=lambda: 0, output=output, resume=lambda: None
    )
    channel = Channel(sandbox, host_bytes=1 << 30, sanitized=False)
    with ours:
        expected = _EXPECTED[choice % len(_EXPECTED)]
        if expected == "confined":
            session = object.__new__(Session)
            device = SimpleNamespace(kind="cpu", name="a machine")
            session.__dict__.update(_channel=channel, _device=device, layers=())
            try:
                session._start()
            except MachineError as error:
                assert str(error)
            else:
                assert all(isinstance(layer, str) for layer in session.layers)
            return
        kind: Any = MESSAGES[expected]
        answer = channel.receive(kind, 1.0)
    if isinstance(answer, Fault):
        assert answer.message
        failure = failed(answer.verdict, message=answer.message, cases=_WRONG.cases)
        assert Result.from_json(failure.to_json()).to_json() == failure.to_json()
        return
    assert answer.type == expected
    if isinstance(answer, Finished):
        number = kernels_per_call(answer)
        assert number is None or 0 <= number <= 1e6
    if isinstance(answer, Prepared):
        assert answer.captured in (True, False)


def hear_compiled(data: bytes) -> None:
    """A runner's word on a Triton compilation: an outcome that can be kept and shown."""
    try:
        message = parse(data)
    except WireError:
        return
    if not isinstance(message, Compiled):
        return
    outcome = outcome_of(message, "its output", "solution.py")
    entry = CacheEntry(outcome=outcome, digests={})
    stored = json.dumps(entry.model_dump(mode="json"))
    read = CacheEntry.model_validate_json(stored).outcome
    build = Build(
        seconds=read.seconds, cached=False, target="cpu", log=read.log, kernels=read.kernels
    )
    if read.failure is None:
        _render(_ACCEPTED.model_copy(update={"build": build}))
    else:
        _render(failed(read.failure.verdict, message=read.failure.message, build=build))


# ---- files ------------------------------------------------------------------------------------


@functools.cache
def _scratch() -> Path:
    """A folder of this process's own. Under libFuzzer, which ends without asking, its parent's."""
    if given := os.environ.get("FUZZING_SCRATCH"):
        return Path(given)
    folder = Path(tempfile.mkdtemp(prefix="fuzzing-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def read_problem(data: bytes) -> None:
    """A problem file: a Problem, or complaints that name lines of it."""
    folder = _scratch() / "problem"
    folder.mkdir(exist_ok=True)
    path = folder / "problem.md"
    path.write_bytes(data)
    try:
        problem = load_problem(folder)
    except ProblemError as error:
        assert error.diagnostics
        lines = data.count(b"\n") + data.count(b"\r") + 1
        for each in error.diagnostics:
            assert each.path == path
            assert 1 <= each.line <= lines + 1, f"line {each.line} of {lines}"
            assert each.message
    else:
        assert problem.slug
        assert problem.parameters is not None


def read_case(data: bytes) -> None:
    """A case's spec: a Case that its own spec names again, or a UsageError."""
    problem = _CASE_PROBLEMS[data[0] % len(_CASE_PROBLEMS)] if data else _CASE_PROBLEMS[0]
    try:
        case = parse_case(problem, _text(data[1:]))
    except UsageError as error:
        assert str(error)
    else:
        assert parse_case(problem, case.spec) == case


def read_expression(data: bytes) -> None:
    """A formula of a problem file: a bounded number or an ExpressionError."""
    try:
        value = Expression.parse(_text(data)).evaluate({"m": 33, "n": 1, "sizeof(VAR)": 4})
    except ExpressionError as error:
        assert str(error)
    else:
        assert abs(value) <= 2**200


_NAMES = ("tiled.cu", "plain.py", "plain.txt", "\x1b[31m.cu", "-rf.py", "a b.cu", "\udcff.py", "x.")


def read_submission(data: bytes) -> None:
    """A submitted file: a Solution or Invalid, whatever is in it and whatever it is called."""
    choice = data[0] if data else 0
    folder = _scratch() / "solutions" / "gemm" / ("alice", "=cmd|x")[choice // 8 % 2]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _NAMES[choice % len(_NAMES)]
    path.write_bytes(data[1:])
    outcome = read_solution(path)
    path.unlink()
    if isinstance(outcome, Invalid):
        assert outcome.message.isprintable(), repr(outcome.message)
    else:
        # A dump's code is taken from what is around it.
        assert outcome.source == data[1:] or path.suffix == ".txt"
        assert outcome.display_path.isprintable()


def translate_source(data: bytes) -> None:
    """CUDA C++ for the CPU: every token in its place, every line where it was."""
    source = _text(data).replace("\r\n", "\n")
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


# ---- what tools print -------------------------------------------------------------------------


def read_log(data: bytes) -> None:
    """A compiler's output: its first error, its figures, all of bounded size."""
    log = _text(data)
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
    report = _text(data)
    assert sanitizer_summary(report)
    found = first_report(report)
    assert found is None or len(found) < 500
    is_memory_fault(report)


# ---- results and boards -----------------------------------------------------------------------


def read_result(data: bytes) -> None:
    """A record of a store: a Result that can be shown and stored again, or a corrupt row."""
    text = _text(data)
    row: Any = SimpleNamespace(seq=1, id="r1", record=text, checksum=checksum(text))
    outcome = read_row(row)
    if not isinstance(outcome, Result):
        assert outcome.reason
        try:
            outcome = Result.from_json(text)
        except (ValueError, RecursionError):
            return
    # Compared as text: a NaN is not equal to itself.
    assert Result.from_json(outcome.to_json()).to_json() == outcome.to_json()
    _render(outcome)


def read_import_lines(data: bytes) -> None:
    """A file to import: see :mod:`tools.fuzzing.imports`."""
    imports.read_import(data, _scratch())


def read_board(data: bytes) -> None:
    """A board as CSV: a frame or a ValueError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            frame = read_csv(io.StringIO(_text(data)))
        except ValueError:
            return
    assert len(frame.columns)


def show_text(data: bytes) -> None:
    """Untrusted text: whatever it was, what is shown is harmless and of the size asked for."""
    limit = data[0] + 1 if data else 1
    text = data[1:].decode("utf-8", "surrogateescape")
    for shown in (plain(text), plain(text, limit)):
        assert all(c.isprintable() or c in _SPACES for c in shown), repr(shown)
    assert len(plain(text, limit)) <= limit
    for shown in (plain_lines(text), head(text, 3, limit), tail(text, 3, limit)):
        assert all(c.isprintable() or c == "\n" or c in _SPACES for c in shown), repr(shown)


# ---- what they share --------------------------------------------------------------------------

_SPACES = frozenset(
    "\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
) | {chr(c) for c in (*range(0xE000, 0xF900), *range(0xF0000, 0x110000))}
"""What Python does not call printable and nothing interprets: wide spaces and private letters."""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _seed(name: str) -> bytes:
    return (_SAMPLES / name).read_bytes()


def _render(result: Result) -> None:
    render_result(result, Console(file=io.StringIO(), width=80))


def _sources(pattern: str, most: int) -> tuple[bytes, ...]:
    files = sorted(_PROBLEMS.glob(pattern)) + sorted((ROOT / "solutions").glob(pattern))
    return tuple(path.read_bytes() for path in files if path.stat().st_size <= most)


def _case_problems() -> tuple[Problem, ...]:
    return tuple(load_problem(_PROBLEMS / slug) for slug in ("gemm-alpha-beta", "row-reduction"))


def _board_csv() -> bytes:
    file = io.StringIO()
    to_csv(board([result(), unranked()]), file)
    return file.getvalue().encode()


_ACCEPTED = result(
    notes=("a note",),
    conditions=Conditions(
        clock_mhz=(1200, 1980),
        temperature_c=50,
        power_w=300.0,
        throttle=("power",),
        other_processes=1,
        readings=3,
    ),
    measurements=(measurement(kernels=1.0, isolated_s=interval(2e-5), sol_time_s=1e-5),),
)
_SMALL = CaseResult(spec="m=3,n=1", passed=False, message="c differs", mismatch=mismatch())
_VALUES = TensorValues(
    parameter="c", role="got", shape=(2, 2), values=((1, 2.5), (3, float("nan")))
)
_WRONG = failed(
    output="printed\n",
    shrunk=ShrunkCase(case=_SMALL, trials=3, seconds=1.5, tensors=(_VALUES,)),
)
_UNBUILT = failed(
    Verdict.COMPILE_ERROR,
    message="solution.cu:3:1: error: no",
    build=Build(seconds=1.0, cached=True, target="sm_90", log="solution.cu:3:1: error: no\n"),
)
_CASE_PROBLEMS = _case_problems()
_ANSWERS = (
    b'{"type":"finished","kernels":1.5}',
    b'{"type":"prepared","captured":true}',
    b'{"type":"failed","fault":"exception","message":"ValueError: no\\nline two"}',
    b'{"type":"confined","version":1,"layers":["resource limits"]}',
    b'{"type":"loaded"}',
    b'{"type":"failed","fault":"cuda","message":"CUDA error 700: illegal address"}',
)
_COMPILED = (
    b'{"type":"compiled","status":"ok","message":"","line":null,"kernels":[{"name":"k",'
    b'"registers":32,"shared_bytes":1024}],"configurations":1,"seconds":1.5}',
    b'{"type":"compiled","status":"compile_error","message":"no such name","line":3,"kernels":[],'
    b'"configurations":0,"seconds":0.5}',
)
_HUGE = b"9" * 4000
"""More than a float holds, and just what the JSON parser still takes for an integer."""
_JSON_WORDS = ('"type"', '"failed"', '"fault"', '"message"', "null", "true", "NaN", "-1e999", "[[[")
_CUDA_WORDS = (
    "__global__", "__shared__", "<<<", ">>>", "extern", "#define", "#if 0", "#include", "\\\n",
    'R"x(', ')x"', "/*", "*/", "//", "__align__(16)", "template<", "cudaStream_t", "asm volatile",
)  # fmt: skip

TARGETS = (
    Target(
        name="wire",
        run=read_packet,
        seeds=(*(bytes([i]) + a for i, a in enumerate(_ANSWERS)), b"\x03" + b"[" * 3000),
        words=_JSON_WORDS,
        most=70_000,
    ),
    Target(
        name="session",
        run=hear_runner,
        seeds=tuple(bytes([i]) + a for a in _ANSWERS for i in range(14)),
        words=(*_JSON_WORDS, *(f'"{f}"' for f in FaultCode), *(f'"{e}"' for e in _EXPECTED)),
        most=8192,
    ),
    Target(
        name="compiled",
        run=hear_compiled,
        seeds=(*_COMPILED, _COMPILED[0].replace(b"1024", _HUGE)),
        words=("Infinity", "1e400"),
        most=8192,
    ),
    Target(
        name="problem",
        run=read_problem,
        seeds=(_seed("problem.md"), _seed("other.md")),
        words=(
            "slug:",
            "parameters:",
            "shape: [m, n]",
            "range: [1, 9]",
            "equals: m*n",
            "---\n",
            "&a",
            "*a",
            "<<:",
            "!!python/object",
            "alignment:",
            "strides:",
            "tolerance:",
            "sizeof(VAR)",
        ),
        most=2048,
    ),
    Target(
        name="case",
        run=read_case,
        seeds=(
            b"\x00m=33,n=1,k=7,ld_a=8,ld_b=2,ld_c=3,alpha=-0.5,beta=0",
            b"\x00m=3,n=1,k=7,ld_a=7,ld_b=1,ld_c=1,alpha=1e-3,beta=1,values=nan",
            b"\x01m=4,n=5,values=large",
            b"\x01m=1",
        ),
        words=("values=", "alpha=", "beta=", "ld_a=", "ld_b=", "scale=", "1e400", "nan", "1_0"),
        most=512,
    ),
    Target(
        name="expression",
        run=read_expression,
        seeds=(b"2*m*n + 3*m", b"sizeof(VAR)*(m*n)", b"min(m, 2)**0.5 // 3 % n", b"log2(-m)"),
        words=("min(", "max(", "ceil(", "floor(", "sqrt(", "**", "//", "1e308", "log2(", "abs("),
        most=600,
    ),
    Target(
        name="submission",
        run=read_submission,
        seeds=(
            b'\x00// dtypes: float32, float16\nextern "C" void solution(float* a) {}\n',
            b"\x01import triton\n# dtypes: bfloat16\ndef solution(a): pass\n",
            b"rt triton\n# dtypes: bfloat16\ndef solution(a): pass\n",
            b"\x01from torch import (nn,\n  x)\n\timport triton.language as tl; import a, b\n",
            b"\xff\xfe\x00",
        ),
        words=("dtypes:", "float32", "import", "triton", "from", "'''", '"""', "\\\n", "\x00"),
    ),
    Target(
        name="translate",
        run=translate_source,
        seeds=(*_sources("**/*.cu", 700)[:20], _seed("odd.cu")),
        words=_CUDA_WORDS,
        most=800,
    ),
    Target(
        name="log",
        run=read_log,
        seeds=(
            _seed("nvcc.log"),
            _seed("gcc.log"),
            _seed("ptxas.log"),
            _seed("ptxas.log").replace(b"32 registers", _HUGE * 2 + b" registers"),
            _seed("ptxas.log").replace(b"8192+16", _HUGE * 2),
        ),
        words=("error: ", "fatal error", "ptxas info    : Used ", " registers", " bytes smem"),
        most=10_000,
    ),
    Target(
        name="report",
        run=read_report,
        seeds=(_seed("asan.log"), _seed("memcheck.log")),
        words=("ERROR: AddressSanitizer: ", "\n    #0 0x1 in ", "solution.cu:1", " in "),
    ),
    Target(
        name="result",
        run=read_result,
        seeds=(
            *(each.to_json().encode() for each in (_ACCEPTED, _WRONG, _UNBUILT)),
            _ACCEPTED.to_json().encode().replace(b":8192", b":" + _HUGE),
            _WRONG.to_json().encode().replace(b"[1,2.5]", b"[%b,%b]" % (_HUGE, _HUGE)),
            _WRONG.to_json().encode().replace(b'"shape":[2,2]', b'"shape":[1]'),
        ),
        words=("NaN", "Infinity", "-1", "1e999", "null", "true", '"schema":1', "9" * 40),
        most=12_000,
    ),
    Target(
        name="import",
        run=read_import_lines,
        seeds=imports.SEEDS,
        words=(*imports.WORDS, "\n"),
        most=imports.MOST,
    ),
    Target(name="board", run=read_board, seeds=(_board_csv(),), words=('"', ",,", "\n")),
    Target(
        name="text",
        run=show_text,
        seeds=(b"\x20plain\x1b[31mred\x1b]8;;http://x\x07y\xc2\x9b2J", "ü\u202e\u2066".encode()),
        words=("\x1b[", "\x1b]8;;", "\x9b", "\u202e", "::error::", "##[error]", "\u200b"),
    ),
)
"""Every reader of what others wrote."""
