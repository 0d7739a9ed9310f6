"""Submissions that build extensions of PyTorch: what is built, what runs, what a report says."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.extensions import AT_IMPORT, BUILD
from support.leftovers import left, zygote_processes

from harness.device.choose import open_device
from harness.device.cpu import CpuDevice
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.languages.build.cache import Cache
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.problem.terms import Limits
from harness.progress.progress import NoProgress
from harness.records.result import Result, Verdict
from harness.sandbox import processes
from harness.session.build_session import BuildSession
from harness.session.programs import RunnerProgram

ROOT = Path(__file__).parents[2]
CHECK = Options(timing=False)

Grade = Callable[..., Result]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    return Cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def grade(cache: Cache, tmp_path: Path) -> Iterator[Grade]:
    """Grades a submission to vector-add on the CPU; nothing that it started is left."""
    problem = load_problem(ROOT / "problems/vector-add")
    before = set(processes.descendants(os.getpid()))

    def graded(source: str, **limits: float) -> Result:
        limited = replace(problem, limits=replace(problem.limits, **limits))
        path = tmp_path / "mine.py"
        path.write_text(source)
        solution = read_solution(path, problem="vector-add")
        with Grader(CpuDevice(), NoProgress(), cache=cache) as grader:
            return grader.grade(Job(path=str(path), solution=solution, problem=limited), CHECK)

    yield graded
    assert left(before.union(zygote_processes())) == set()


@pytest.mark.corpus
def test_an_extension_is_built_before_the_runner_starts_and_kept(grade: Grade) -> None:
    first = grade(AT_IMPORT)
    assert first.verdict is Verdict.ACCEPTED, first.message
    assert "extension tiny: built" in first.notes
    again = grade(AT_IMPORT + "# another file\n")
    assert again.verdict is Verdict.ACCEPTED, again.message


@pytest.mark.corpus
@pytest.mark.parametrize(
    "asking",
    [
        "import torch.utils.cpp_extension as ext\ne = ext.load_inline('a', SOURCE, "
        "no_implicit_headers=True)\ndef solution(x, y, z, n): run(e, x, y, z, n)\n",
        "from torch.utils import cpp_extension\ntry:\n    e = cpp_extension.load_inline('a', "
        "[SOURCE], no_implicit_headers=True, verbose=True)\nexcept Exception:\n    e = None\n"
        "def solution(x, y, z, n): run(e, x, y, z, n)\n",
        "def custom_kernel(data):\n    x, y, z = data\n    run(build(), x, y, z, len(x))\n"
        "    return z\n",
        "class ModelNew(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.e = build()\n    def forward(self, x, y):\n        z = torch.empty_like(x)\n"
        "        run(self.e, x, y, z, len(x))\n        return z\n",
        "e = build(name=f'tiny_{torch.randint(1 << 60, ()).item()}')\n"
        "def solution(x, y, z, n): run(e, x, y, z, n)\n",
        "import os, tempfile\nfrom torch.utils.cpp_extension import load\n"
        "file = os.path.join(tempfile.mkdtemp(), 'own.cpp')\nopen(file, 'w').write(SOURCE)\n"
        "e = load(name='own', sources=[file])\ndef solution(x, y, z, n): run(e, x, y, z, n)\n",
        "def solution(x, y, z, n):\n    try:\n        run(build(), x, y, z, n)\n"
        "    except Exception:\n        z.fill_(7)\n",
    ],
    ids=["alias", "try", "call", "constructor", "name", "load", "late"],
)
def test_it_is_built_wherever_it_is_asked_for(grade: Grade, asking: str) -> None:
    result = grade(BUILD + asking)
    assert result.verdict is Verdict.ACCEPTED, result.message
    assert [note for note in result.notes if note.startswith("extension")]
    assert all(note.endswith(": built") for note in result.notes if "extension" in note)


BROKEN = "build('int broken( { return 0; }', 'broken')"


@pytest.mark.corpus
def test_one_that_does_not_compile_is_a_compile_error_with_its_line(grade: Grade) -> None:
    result = grade(f"{BUILD}\nextension = {BROKEN}\ndef solution(x, y, z, n): ...\n")
    assert result.verdict is Verdict.COMPILE_ERROR
    assert "main.cpp:1" in result.message
    assert "broken" in result.message
    assert result.build is not None
    assert "main.cpp:1" in result.build.log


@pytest.mark.corpus
def test_a_submission_may_go_on_without_and_the_result_says_so(grade: Grade) -> None:
    result = grade(
        f"{BUILD}\ntry:\n    extension = {BROKEN}\nexcept RuntimeError as error:\n"
        "    assert 'main.cpp:1' in str(error)\n"
        "def solution(x, y, z, n): torch.add(x, y, out=z)\n"
    )
    assert result.verdict is Verdict.ACCEPTED, result.message
    (note,) = [note for note in result.notes if note.startswith("extension")]
    assert note.startswith("extension broken: did not compile, the submission went on without it (")
    assert "main.cpp:1" in note


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("build(extra_cflags=['-fplugin=/tmp/x.so'])", "'-fplugin=/tmp/x.so' is not taken here"),
        ("build(extra_include_paths=['/home/me'])", "extra_include_paths '/home/me'"),
        ("build(name='not a name')", "is no identifier"),
        (
            "__import__('torch').utils.cpp_extension.load('x', ['/kernels/x.cu'])",
            "a submission is one file",
        ),
    ],
)
def test_what_is_not_taken_is_an_invalid_submission(grade: Grade, call: str, words: str) -> None:
    result = grade(f"{BUILD}\nextension = {call}\ndef solution(x, y, z, n): ...\n")
    assert result.verdict is Verdict.INVALID_SUBMISSION, result.message
    assert words in result.message


@pytest.mark.corpus
def test_sources_that_are_others_each_time_are_not_executable_here(grade: Grade) -> None:
    result = grade(
        f"{BUILD}\nimport time\nextension = build(SOURCE + f'// {{time.time_ns()}}')\n"
        "def solution(x, y, z, n): run(extension, x, y, z, n)\n"
    )
    assert result.verdict is Verdict.NOT_EXECUTABLE_HERE
    assert "extension 'tiny' is another one each time" in result.message


@pytest.mark.corpus
def test_an_error_raised_again_in_other_words_is_still_a_compile_error(grade: Grade) -> None:
    result = grade(
        f"{BUILD}\ntry:\n    extension = {BROKEN}\nexcept Exception as error:\n"
        "    raise ValueError('no kernel')\ndef solution(x, y, z, n): ...\n"
    )
    assert result.verdict is Verdict.COMPILE_ERROR
    assert "no kernel" in result.message


CUDA = "build('', 'card', cuda_sources='__global__ void k(int* p) { *p = 1; }')"


@pytest.mark.corpus
@pytest.mark.parametrize(
    "source",
    [
        f"e = {CUDA}\ndef solution(x, y, z, n): ...\n",
        f"def solution(x, y, z, n):\n    {CUDA}\n",
        f"try:\n    e = {CUDA}\nexcept Exception:\n    e = None\ndef solution(*_): ...\n",
    ],
    ids=["import", "late", "try"],
)
def test_cuda_needs_a_card(grade: Grade, source: str) -> None:
    result = grade(BUILD + source)
    assert result.verdict is Verdict.NOT_EXECUTABLE_HERE
    assert "extension 'card' has CUDA code, which needs an NVIDIA GPU" in result.message
    assert "CUDA_HOME" not in result.message


@pytest.mark.corpus
@pytest.mark.nvcc
def test_mistakes_in_cuda_are_found_without_a_card(grade: Grade) -> None:
    broken = CUDA.replace("*p = 1;", "*p = 1")
    result = grade(f"{BUILD}e = {broken}\ndef solution(x, y, z, n): ...\n")
    assert result.verdict is Verdict.COMPILE_ERROR
    assert "cuda.cu:1" in result.message


@pytest.mark.corpus
@pytest.mark.parametrize(
    "hostile",
    [
        "import os; os._exit(3)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        'import os\nfor fd in range(3, 64):\n    try: os.write(fd, b\'{"type": "recorded"}\')\n'
        "    except OSError: pass",
        "import os\nfor fd in range(3, 64):\n    try: os.pwrite(fd, b'x' * (4 << 20), 0)\n"
        "    except OSError: pass",
        "for _ in range(100):\n    try: build(f'// {_}', f'n{_}')\n    except BaseException: break",
        "raise SystemExit('enough')",
    ],
    ids=["exit", "kill", "forged", "junk", "many", "raise"],
)
def test_a_recording_that_is_hostile_harms_itself_alone(grade: Grade, hostile: str) -> None:
    result = grade(f"{AT_IMPORT}\n{hostile}\n")
    assert result.verdict is not Verdict.INTERNAL_ERROR
    honest = grade(AT_IMPORT)
    assert honest.verdict is Verdict.ACCEPTED, honest.message


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("hostile", "limits", "verdict"),
    [
        ("while True: pass", {"prepare_s": 2.0}, Verdict.TIME_LIMIT),
        (
            "hoard = [bytearray(b'x' * (1 << 24)) for _ in range(99)]",
            {"host_bytes": 1 << 30},
            Verdict.MEMORY_LIMIT,
        ),
    ],
    ids=["endless", "huge"],
)
def test_a_recording_has_limits(hostile: str, limits: dict[str, Any], verdict: Verdict) -> None:
    source = f"{AT_IMPORT}\n{hostile}\n".encode()
    program = RunnerProgram(kind="python", source=source, interpret=True)
    with BuildSession(program, CpuDevice(), Limits(**limits)) as session:
        requests, fault = session.record({}, 90, None)
    assert [request.name for request in requests] == ["tiny"]
    assert fault is not None
    assert fault.verdict is verdict


TORCH = """
from torch.utils.cpp_extension import load_inline
extension = load_inline(
    name="vadd",
    cpp_sources='''
torch::Tensor add(torch::Tensor x, torch::Tensor y) {
  TORCH_CHECK(x.sizes() == y.sizes(), "other sizes");
  auto z = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "add", [&] {
    for (int64_t i = 0; i < x.numel(); ++i)
      z.data_ptr<scalar_t>()[i] = x.data_ptr<scalar_t>()[i] + y.data_ptr<scalar_t>()[i];
  });
  return z;
}
''',
    functions=["add"],
    extra_cflags=["-O2"],
)
def custom_kernel(data):
    return extension.add(data[0], data[1])
"""


@pytest.mark.corpus
@pytest.mark.parametrize("wide", [False, True], ids=["slim", "whole"])
def test_sources_with_pytorchs_headers(grade: Grade, wide: bool) -> None:
    needs = "torch::nn::functional::relu(x);" if wide else ""
    result = grade(TORCH.replace("auto z", f"{needs} auto z"), build_s=600.0)
    assert result.verdict is Verdict.ACCEPTED, result.message
    assert "extension vadd: built" in result.notes


CARD = """
import torch
from torch.utils.cpp_extension import load_inline
extension = load_inline(
    name="vadd",
    cpp_sources="void add(torch::Tensor x, torch::Tensor y, torch::Tensor z);",
    cuda_sources='''
#include <torch/extension.h>
__global__ void add_kernel(const float* x, const float* y, float* z, long n) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}
void add(torch::Tensor x, torch::Tensor y, torch::Tensor z) {
  long n = x.numel();
  add_kernel<<<(n + 255) / 256, 256>>>(
      x.data_ptr<float>(), y.data_ptr<float>(), z.data_ptr<float>(), n);
}
''',
    functions=["add"],
    extra_cuda_cflags=["-O3", "--use_fast_math"],
    verbose=True,
)
"""

ENTRIES = {
    "solution": "def solution(x, y, z, n): extension.add(x, y, z)\n",
    "custom_kernel": "def custom_kernel(data):\n    x, y, z = data\n    extension.add(x, y, z)\n"
    "    return z\n",
    "ModelNew": "class ModelNew(torch.nn.Module):\n    def forward(self, x, y):\n"
    "        z = torch.empty_like(x)\n        extension.add(x, y, z)\n        return z\n",
}


@pytest.mark.gpu
@pytest.mark.timed
@pytest.mark.nvcc
@pytest.mark.parametrize("entry", ENTRIES)
def test_kernels_of_an_extension_on_a_card(cache: Cache, tmp_path: Path, entry: str) -> None:
    problem = load_problem(ROOT / "problems/vector-add")
    path = tmp_path / "mine.py"
    path.write_text(CARD + ENTRIES[entry])
    job = Job(path=str(path), solution=read_solution(path, problem="vector-add"), problem=problem)
    with Grader(open_device("cuda"), NoProgress(), cache=cache) as grader:
        result = grader.grade(job, Options(dtype="float32", quick=True))
    assert result.accepted, result.message
    assert "extension vadd: built" in result.notes
    assert all(each.captured for each in result.measurements)
    assert result.build is not None
    print(f"{entry}: built in {result.build.seconds:.1f} s")
